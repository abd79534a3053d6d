//! [`InvalidArguments`]: what is wrong with the arguments of a call.

use std::fmt;

use serde_json::Value;
use wharf_protocol::Json;

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidArguments {
    /// The problems, one sentence for each argument, up to a limit.
    pub(super) problems: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
}

impl InvalidArguments {
    /// Makes the error for arguments that are not an object.
    pub(super) fn not_an_object(arguments: &Json) -> Self {
        let found = arguments.to::<Value>();
        let found = found.as_ref().map_or("something else", type_of);
        Self { problems: vec![format!("arguments must be an object, not {found}")], more: 0 }
    }

    /// Returns the problems, one sentence for each argument, up to a limit.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.problems.join("; "))?;
        if self.more > 0 {
            write!(formatter, "; and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidArguments {}

/// Returns the type of a value, with its article.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
