//! The scripted servers of the run, and the versions of their catalog.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wharf::config::{Catalog, Env, LoadOptions, Platform, load};
use wharf::{Options, Runtime};
use wharf_testkit::actor::{ActorLog, Script};

/// The number of servers.
pub(crate) const SERVERS: usize = 8;

/// A home folder with scripted servers.
pub(crate) struct TestServers {
    root: tempfile::TempDir,
    logs: Vec<ActorLog>,
}

impl TestServers {
    pub(crate) fn new() -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        fs::create_dir_all(root.path().join("project"))?;
        let script = Script::with_tools(["do", "other"]);
        let logs = (0..SERVERS).map(|at| script.write(&root.path().join(name(at)))).collect();
        Ok(Self { root, logs })
    }

    /// Starts a runtime with all servers. Fails if a server is not loaded, because a run without it
    /// would prove nothing.
    pub(crate) fn start_runtime(&self) -> Result<Runtime, String> {
        let options = Options::new(self.env(0)).store_in_wharf_home().one_shot();
        let catalog =
            load(&self.env(0), LoadOptions::default()).map_err(|error| error.to_string())?;
        match catalog.servers.len() {
            SERVERS => Ok(Runtime::start(&catalog, options)),
            number => Err(format!("{number} of {SERVERS} servers were loaded")),
        }
    }

    /// Returns a version of the catalog, in which some servers are changed or missing.
    pub(crate) fn catalog(&self, version: u64) -> Option<Catalog> {
        load(&self.env(version), LoadOptions::default()).ok()
    }

    fn env(&self, version: u64) -> Env {
        let program = std::env::current_exe().ok();
        let program = program.and_then(|program| Some(program.parent()?.join("wharf-actor")));
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

    /// Returns the id of the last process of a server.
    pub(crate) fn process(&self, at: usize) -> Option<u32> {
        self.logs[at].starts().last().copied()
    }

    pub(crate) fn starts(&self) -> usize {
        self.logs.iter().map(|log| log.starts().len()).sum()
    }

    /// Returns the processes of the servers that still run.
    pub(crate) fn running(self: &Arc<Self>) -> impl Iterator<Item = u32> {
        let all = self.logs.iter().flat_map(ActorLog::starts).collect::<Vec<_>>();
        let marker = self.root.path().to_string_lossy().into_owned();
        all.into_iter().filter(move |process| {
            // Another process may have the id now.
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&marker)
        })
    }
}

/// Returns the name of a server: letters only, because names of tools lose digits.
pub(crate) fn name(at: usize) -> String {
    let letters = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    letters[at % letters.len()].to_owned()
}
