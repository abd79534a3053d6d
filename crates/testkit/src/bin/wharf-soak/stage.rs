//! The servers of the run and the catalog they stand in.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wharf::config::{Catalog, Env, LoadOptions, Platform, load};
use wharf::{Options, Runtime};
use wharf_testkit::actor::{Diary, Script};

/// How many servers there are.
pub(crate) const SERVERS: usize = 8;

/// A home with servers.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    diaries: Vec<Diary>,
}

impl Stage {
    pub(crate) fn new() -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        fs::create_dir_all(root.path().join("project"))?;
        let script = Script::with_tools(["do", "other"]);
        let diaries = (0..SERVERS).map(|at| script.write(&root.path().join(name(at)))).collect();
        Ok(Self { root, diaries })
    }

    /// Starts all servers; an error if they cannot be loaded, as a run without them shows nothing.
    pub(crate) fn start(&self) -> Result<Runtime, String> {
        let options = Options::new(self.env(0)).one_shot();
        let catalog =
            load(&self.env(0), LoadOptions::default()).map_err(|error| error.to_string())?;
        match catalog.servers.len() {
            SERVERS => Ok(Runtime::start(&catalog, options)),
            number => Err(format!("{number} of {SERVERS} servers were loaded")),
        }
    }

    /// Returns the catalog in one of its versions: some servers are different, some missing.
    pub(crate) fn catalog(&self, version: u64) -> Option<Catalog> {
        load(&self.env(version), LoadOptions::default()).ok()
    }

    fn env(&self, version: u64) -> Env {
        let program = std::env::current_exe().ok();
        let program = program.and_then(|own| Some(own.parent()?.join("wharf-actor")));
        let mut servers = Map::new();
        for at in 0..SERVERS {
            if version > 0 && version % 5 == at as u64 {
                continue;
            }
            let mut entry = json!({
                "command": program,
                "args": [self.folder(at)],
                "approval": "never",
            });
            if version % 3 == at as u64 {
                entry["env"] = json!({ "VERSION": version.to_string() });
            }
            if version % 7 == at as u64 {
                entry["excludeTools"] = json!(["other"]);
            }
            servers.insert(name(at), entry);
        }
        Env::new(Platform::HOST, self.root.path().join("project"))
            .with_home(self.root.path())
            .with_variable("WHARF_MCP_SERVERS", Value::Object(servers).to_string())
    }

    fn folder(&self, at: usize) -> PathBuf {
        self.root.path().join(name(at))
    }

    /// Returns the number of the process that a server has now, as far as it is known.
    pub(crate) fn process(&self, at: usize) -> Option<u32> {
        self.diaries[at].starts().last().copied()
    }

    pub(crate) fn starts(&self) -> usize {
        self.diaries.iter().map(|diary| diary.starts().len()).sum()
    }

    /// Goes through the processes that should be gone and are not.
    pub(crate) fn left_alive(self: &Arc<Self>) -> impl Iterator<Item = u32> {
        let all = self.diaries.iter().flat_map(Diary::starts).collect::<Vec<_>>();
        let marker = self.root.path().to_string_lossy().into_owned();
        all.into_iter().filter(move |process| {
            // The number may belong to somebody else by now.
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&marker)
        })
    }
}

/// Letters, as digits do not survive in the names of tools.
pub(crate) fn name(at: usize) -> String {
    let letters = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    letters[at % letters.len()].to_owned()
}
