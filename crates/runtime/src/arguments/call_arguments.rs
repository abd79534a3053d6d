//! The arguments of a call, from any JSON value, JSON text, or value that serializes.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use wharf_protocol::Json;

/// The arguments of a call: a JSON value, a text with JSON, or anything that serializes.
///
/// Values that cannot be encoded, and texts that are not JSON, make the call fail with the reason;
/// nothing is sent then.
///
/// ```
/// use serde_json::json;
/// use wharf::arguments::Arguments;
///
/// #[derive(serde::Serialize)]
/// struct Read { path: String }
///
/// let same: [Arguments; 3] = [
///     json!({ "path": "notes.txt" }).into(),
///     r#"{ "path": "notes.txt" }"#.into(),
///     Arguments::of(&Read { path: "notes.txt".into() }),
/// ];
/// # drop(same);
/// ```
#[derive(Clone)]
pub struct Arguments(Result<Json, String>);

/// Shows only the length: arguments may be secret, and an error may quote them.
impl fmt::Debug for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(json) => write!(formatter, "Arguments({} bytes)", json.as_str().len()),
            Err(_) => formatter.write_str("Arguments(unusable)"),
        }
    }
}

impl Arguments {
    /// Encodes a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Self(Json::encode(value).map_err(|error| format!("cannot be encoded: {error}")))
    }

    /// Returns the JSON, or why there is none.
    pub(crate) fn into_json(self) -> Result<Json, String> {
        self.0
    }
}

/// Uses JSON as it is.
impl From<Json> for Arguments {
    fn from(json: Json) -> Self {
        Self(Ok(json))
    }
}

/// Uses JSON as it is.
impl From<&Json> for Arguments {
    fn from(json: &Json) -> Self {
        Self(Ok(json.clone()))
    }
}

/// Encodes a JSON value.
impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}

/// Encodes a JSON value.
impl From<&Value> for Arguments {
    fn from(value: &Value) -> Self {
        Self::of(value)
    }
}

/// Encodes a JSON object.
impl From<serde_json::Map<String, Value>> for Arguments {
    fn from(object: serde_json::Map<String, Value>) -> Self {
        Self::of(&object)
    }
}

/// Makes an empty object.
impl From<()> for Arguments {
    fn from((): ()) -> Self {
        Self(Ok(Json::object()))
    }
}

/// Reads a text with JSON, such as the arguments in the tool call of a model. An empty text is an
/// empty object, because some models send nothing for a tool without arguments.
impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self(Ok(Json::object()));
        }
        Self(text.parse::<Json>().map_err(|error| format!("are not valid JSON: {error}")))
    }
}

/// Reads a text with JSON.
impl From<&String> for Arguments {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

/// Reads a text with JSON.
impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    #[test]
    fn the_debug_output_of_arguments_has_only_their_length() {
        assert_eq!(format!("{:?}", Arguments::from(r#"{"a":"hunter2"}"#)), "Arguments(15 bytes)");
        assert_eq!(format!("{:?}", Arguments::from("hunter2")), "Arguments(unusable)");
    }

    use serde_json::json;

    use super::*;

    fn check(arguments: impl Into<Arguments>, expected: &str) {
        let json = arguments.into().into_json();
        assert_eq!(json.as_ref().map(Json::as_str).map_err(|error| &**error), Ok(expected));
    }

    #[test]
    fn every_kind_of_value_becomes_the_same_json() {
        check(json!({ "a": 1 }), r#"{"a":1}"#);
        let borrowed = json!({ "a": 1 });
        check(&borrowed, r#"{"a":1}"#);
        check(r#"{"a":1}"#, r#"{"a":1}"#);
        check(String::from(r#"{"a":1}"#), r#"{"a":1}"#);
        check(Arguments::of(&HashMap::from([("a", 1)])), r#"{"a":1}"#);
        check((), "{}");
        check(" ", "{}");
        check("[1]", "[1]");
    }

    #[test]
    fn what_is_not_json_says_why() {
        let error = Arguments::from("{\"a\": }").into_json().unwrap_err();
        assert_eq!(error, "are not valid JSON: expected value at line 1 column 7");
        let error = Arguments::of(&HashMap::from([(vec![1], 1)])).into_json().unwrap_err();
        assert_eq!(error, "cannot be encoded: key must be a string");
    }
}
