//! What the actor is told before it starts, and the diary that it leaves.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How an actor behaves.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Script {
    /// Its tools, by name; each takes any object.
    pub tools: Vec<String>,
    /// Whole definitions of further tools.
    pub definitions: Vec<Value>,
    /// How long it waits before it answers the first message, in milliseconds.
    pub hello_delay_ms: u64,
    /// How long it waits before it lists its tools, in milliseconds.
    pub list_delay_ms: u64,
    /// What it writes to its error output at the start.
    pub stderr: String,
    /// With which code it exits before it has read anything.
    pub exit: Option<i32>,
    /// It answers the first message with this error.
    pub hello_error: Option<String>,
    /// It answers `tools/list` with this error.
    pub list_error: Option<String>,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// How many resources and prompts it has.
    pub extras: usize,
    /// It speaks 2026-07-28 and nothing else.
    pub modern: bool,
    /// Which tools it has from its first list on, without a word to those who do not listen.
    pub after_list: Option<Vec<String>>,
    /// It has no log.
    pub mute: bool,
    /// It takes a subscription only after it has listed its tools.
    pub listen_late: bool,
    /// What it writes behind every result.
    pub trailer: Option<Value>,
}

impl Script {
    /// Has these tools and is quick and well behaved.
    pub fn with_tools<T: AsRef<str>>(tools: impl IntoIterator<Item = T>) -> Self {
        let tools = tools.into_iter().map(|tool| tool.as_ref().to_owned()).collect();
        Self { tools, ..Self::default() }
    }

    /// Writes the script where the actor looks for it.
    ///
    /// # Panics
    /// Panics if the folder cannot be written to.
    #[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
    #[expect(clippy::expect_used, reason = "a test that cannot write has to stop")]
    pub fn write(&self, folder: &Path) -> Diary {
        fs::create_dir_all(folder).expect("the actor's folder");
        let text = serde_json::to_string(self).expect("a script is JSON");
        fs::write(folder.join("script.json"), text).expect("the actor's script");
        Diary { folder: folder.to_path_buf() }
    }

    /// Reads the script of a folder; what cannot be read is the plainest server there is.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("script.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn listed(&self) -> Value {
        let plain = self.tools.iter().map(|name| {
            json!({
                "name": name,
                "description": format!("Does {name}"),
                "inputSchema": { "type": "object" },
            })
        });
        plain.chain(self.definitions.iter().cloned()).collect()
    }
}

/// What an actor wrote down.
#[derive(Debug, Clone)]
pub struct Diary {
    folder: PathBuf,
}

impl Diary {
    /// Returns the numbers of all processes that were started.
    pub fn starts(&self) -> Vec<u32> {
        self.lines("starts").iter().filter_map(|line| line.parse().ok()).collect()
    }

    /// Returns the texts of all calls that were carried out.
    pub fn effects(&self) -> Vec<String> {
        self.lines("effects")
    }

    /// Returns what came as `_meta` with each call.
    pub fn metas(&self) -> Vec<Value> {
        let metas = self.lines("metas");
        metas.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns what clients said they can do, each time one introduced itself.
    pub fn hellos(&self) -> Vec<Value> {
        let hellos = self.lines("hellos");
        hellos.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns how much it was told to log, each time it was told.
    pub fn levels(&self) -> Vec<String> {
        self.lines("levels")
    }

    /// Returns the methods of all requests, in order.
    pub fn asked(&self) -> Vec<String> {
        self.lines("asked")
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
