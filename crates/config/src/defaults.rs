//! The built-in default servers, for a machine where no server is configured.
//!
//! They are added only if the caller asks for them with `LoadOptions::with_defaults`.

use crate::discover;
use crate::env::Env;
use crate::formats;
use crate::server::Definition;
use crate::source::{Level, Source};

/// In the format of a config file, so that the same reader is used.
const DEFAULTS: &str = r#"{
  "thinking": { "command": "wharf", "args": ["mcp", "thinking"], "approval": "never" },
  "context7": { "command": "npx", "args": ["-y", "@upstash/context7-mcp@latest"], "approval": "never" },
  "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"] }
}"#;

/// Returns the definitions of the default servers.
pub(crate) fn definitions(env: &Env) -> Vec<Definition> {
    let Some(program) = formats::program("defaults") else { return Vec::new() };
    let Ok(found) = discover::read_variable(env, program, "built-in defaults", DEFAULTS) else {
        return Vec::new();
    };
    let mut definitions = found.definitions;
    for definition in &mut definitions {
        let source = Source { level: Level::Builtin, ..(*definition.source).clone() };
        definition.source = source.into();
    }
    definitions
}
