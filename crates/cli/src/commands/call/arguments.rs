//! The arguments typed for a tool: `key=value` words, which need the tool's schema, or a JSON
//! object.
//!
//! Files that the words name are read before Wharf connects.

use wharf::arguments::{PairError, from_pairs};
use wharf::protocol::Json;
use wharf::tools::Tool;
use wharf_config::Env;
use wharf_config::text::clip;

use crate::commands::Failure;
use crate::commands::failure::pair_hint;
use crate::commands::file_values::{read_into, read_text};
use crate::commands::tool_usage::ToolUsage;

/// The arguments as typed.
pub(super) enum TypedArguments {
    /// `key=value` words, with `@file` values replaced by the contents of the files.
    Words(Vec<String>),
    /// A JSON object.
    Object(Json),
}

impl TypedArguments {
    /// Reads the words, or the JSON of `--args`, which may be on the standard input or in a file.
    pub(super) fn read(words: &[String], json: Option<&str>, env: &Env) -> Result<Self, Failure> {
        let text = match json {
            None => return Ok(Self::Words(read_into(words, env)?)),
            Some("-") => read_text("-", env)
                .map_err(|why| bad(format!("could not read the standard input: {why}"), EXAMPLE))?,
            Some(text) => match text.strip_prefix('@') {
                Some(file) => read_text(file, env).map_err(|why| {
                    bad(format!("could not read {}: {why}", clip(file, 200)), EXAMPLE)
                })?,
                None => text.to_owned(),
            },
        };
        let object = Json::parse(text.trim())
            .map_err(|error| bad(format!("--args is not JSON: {error}"), EXAMPLE))?;
        if object.is_object() {
            Ok(Self::Object(object))
        } else {
            Err(bad("--args must be a JSON object".to_owned(), EXAMPLE))
        }
    }

    /// Returns the arguments for a tool as JSON.
    pub(super) fn arguments(&self, tool: &Tool, usage: &ToolUsage<'_>) -> Result<Json, Failure> {
        match self {
            Self::Object(object) => Ok(object.clone()),
            Self::Words(words) => {
                from_pairs(words, tool.accepted_schema()).map_err(|error| Failure::BadArguments {
                    message: format!("{}: {error}", problem(&error)),
                    hint: pair_hint(&error),
                    usage: Some(usage.line()),
                })
            }
        }
    }
}

/// Returns what is wrong with the arguments as a whole.
fn problem(error: &PairError) -> &'static str {
    match error {
        PairError::NotAPair { .. } | PairError::NotJson { .. } => "the arguments are malformed",
        _ => "the arguments do not match the schema of the tool",
    }
}

const EXAMPLE: &str = r#"such as --args '{"path": "README.md"}'"#;

fn bad(message: String, hint: &str) -> Failure {
    Failure::BadArguments { message, hint: Some(hint.to_owned()), usage: None }
}
