//! The script of a scripted server: a JSON file that sets its tools, delays and errors.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ActorLog;

/// The behavior of a scripted server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Script {
    /// The names of its tools; each accepts any object.
    pub tools: Vec<String>,
    /// The complete definitions of more tools.
    pub definitions: Vec<Value>,
    /// The delay before the response to `initialize` or `server/discover`, in milliseconds.
    pub hello_delay_ms: u64,
    /// The delay before the response to `tools/list`, in milliseconds.
    pub list_delay_ms: u64,
    /// The text that it writes to stderr at the start.
    pub stderr: String,
    /// The exit code, if it exits before it reads anything.
    pub exit: Option<i32>,
    /// The error message of `initialize`, if that fails.
    pub hello_error: Option<String>,
    /// The error message of `tools/list`, if that fails.
    pub list_error: Option<String>,
    /// The instructions.
    pub instructions: Option<String>,
    /// The number of resources and the number of prompts.
    pub extras: usize,
    /// Whether it supports only 2026-07-28, instead of the legacy revisions.
    pub modern: bool,
    /// The names of its tools after the first list; only open subscriptions are notified (modern).
    pub after_list: Option<Vec<String>>,
    /// Whether it does not support logging.
    pub mute: bool,
    /// Whether it acknowledges a subscription only after it has listed its tools.
    pub listen_late: bool,
    /// The value of the member `trailer`, which follows every result.
    pub trailer: Option<Value>,
}

impl Script {
    /// Makes a script with these tools, without delays and errors.
    pub fn with_tools<T: AsRef<str>>(tools: impl IntoIterator<Item = T>) -> Self {
        let tools = tools.into_iter().map(|tool| tool.as_ref().to_owned()).collect();
        Self { tools, ..Self::default() }
    }

    /// Writes the script into the folder of the server, and returns its log.
    ///
    /// # Panics
    ///
    /// If the folder is not writable.
    #[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
    #[expect(clippy::expect_used, reason = "a test that cannot write must stop")]
    pub fn write(&self, folder: &Path) -> ActorLog {
        fs::create_dir_all(folder).expect("the folder of the server is writable");
        let text = serde_json::to_string(self).expect("a script can be written as JSON");
        fs::write(folder.join("script.json"), text).expect("the script is writable");
        ActorLog::new(folder)
    }

    /// Reads the script of a folder; returns the default script if that is not possible.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("script.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Returns the `tools` of the `tools/list` result.
    pub(super) fn tool_definitions(&self) -> Value {
        let named = self.tools.iter().map(|name| {
            json!({
                "name": name,
                "description": format!("Does {name}"),
                "inputSchema": { "type": "object" },
            })
        });
        named.chain(self.definitions.iter().cloned()).collect()
    }
}
