//! What was typed for a tool: words that need its schema to mean something, or JSON.

use wharf::call::from_pairs;
use wharf::protocol::Json;

use crate::commands::Failure;

/// What was typed for a tool.
pub(super) enum Given<'a> {
    /// `key=value` words.
    Words(&'a [String]),
    /// An object.
    Object(Json),
}

impl<'a> Given<'a> {
    /// Takes the words, or JSON instead of them, which may be on the standard input.
    pub(super) fn read(words: &'a [String], json: Option<&str>) -> Result<Self, Failure> {
        let text = match json {
            None => return Ok(Self::Words(words)),
            Some("-") => std::io::read_to_string(std::io::stdin().lock()).map_err(|_| {
                bad("the standard input is not text".to_owned(), "give --args a JSON object")
            })?,
            Some(text) => text.to_owned(),
        };
        let object = Json::parse(text.trim())
            .map_err(|error| bad(format!("--args is not JSON: {error}"), EXAMPLE))?;
        if object.is_object() {
            Ok(Self::Object(object))
        } else {
            Err(bad("--args is JSON, but no object".to_owned(), EXAMPLE))
        }
    }

    /// Makes the arguments for a tool with this schema.
    pub(super) fn arguments(&self, schema: &Json) -> Result<Json, Failure> {
        match self {
            Self::Object(object) => Ok(object.clone()),
            Self::Words(words) => from_pairs(words, schema).map_err(|error| {
                Failure::BadArguments { message: error.to_string(), hint: error.hint() }
            }),
        }
    }
}

const EXAMPLE: &str = r#"such as --args '{"path": "README.md"}'"#;

fn bad(message: String, hint: &str) -> Failure {
    Failure::BadArguments { message, hint: Some(hint.to_owned()) }
}
