//! JSON that is known to be an object: the type of arguments.

use crate::Json;

/// A JSON value that is an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(Json);

/// The value is not an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON object")]
pub struct NotAnObject;

impl Object {
    /// Returns the value.
    pub fn as_json(&self) -> &Json {
        &self.0
    }
}

/// Returns `{}`.
impl Default for Object {
    fn default() -> Self {
        Self(Json::object())
    }
}

impl TryFrom<Json> for Object {
    type Error = NotAnObject;

    fn try_from(json: Json) -> Result<Self, NotAnObject> {
        if json.is_object() { Ok(Self(json)) } else { Err(NotAnObject) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_json_object_is_accepted() {
        assert!(Object::try_from(Json::object()).is_ok());
        for text in ["null", "[]", "\"{}\"", "1"] {
            assert_eq!(Object::try_from(text.parse::<Json>().unwrap()), Err(NotAnObject), "{text}");
        }
    }
}
