//! A JSON value whose objects keep the order of their keys, for what is written to files.
//!
//! `serde_json::Value` sorts the keys, except if its feature `preserve_order` is on. Features apply
//! to a whole program, so a library must neither need that one nor turn it on.

use std::fmt;
use std::str::FromStr;

use indexmap::IndexMap;
use indexmap::map::{IntoIter, Iter};
use serde::ser::{Serialize, Serializer};
use serde_json::Number;

use crate::document::{self, Node, Notation, SyntaxError, Value};

/// A JSON value. Two objects are equal if they have equal members, in whatever order.
///
/// ```
/// use wharf_config::edit::JsonValue;
///
/// let text = r#"{"command":"uvx","args":["mcp-server-time"]}"#;
/// let entry: JsonValue = text.parse()?;
/// assert_eq!(entry.to_string(), text);
/// assert_eq!(entry.get("command").and_then(JsonValue::as_str), Some("uvx"));
/// # Ok::<(), wharf_config::document::SyntaxError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub enum JsonValue {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// An object.
    Object(JsonObject),
}

/// The members of a JSON object, in order.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct JsonObject(IndexMap<String, JsonValue>);

impl JsonValue {
    /// Makes an object of keys and values.
    pub fn object<K: Into<String>, V: Into<Self>>(
        members: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let members = members.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self::Object(members.collect())
    }

    /// Makes a number of its digits; digits that are not JSON become a string.
    pub(super) fn number(digits: &str) -> Self {
        serde_json::from_str(digits).map_or_else(|_| digits.into(), Self::Number)
    }

    /// Returns the members, if this is an object.
    pub fn as_object(&self) -> Option<&JsonObject> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members to change, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut JsonObject> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Tells whether this is an object.
    pub fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    /// Returns the items, if this is a list.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Tells whether this is null.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Returns the value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Sets a key, if this is an object; a new key is added at the end.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Self>) {
        if let Some(members) = self.as_object_mut() {
            members.insert(key, value);
        }
    }
}

impl JsonObject {
    /// Makes an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&JsonValue> {
        self.0.get(key)
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut JsonValue> {
        self.0.get_mut(key)
    }

    /// Sets a key. A new key is added at the end, and an old one keeps its place.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<JsonValue>) {
        self.0.insert(key.into(), value.into());
    }

    /// Removes a key and returns its value; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<JsonValue> {
        self.0.shift_remove(key)
    }

    /// Keeps the wanted members.
    pub fn retain(&mut self, is_wanted: impl FnMut(&String, &mut JsonValue) -> bool) {
        self.0.retain(is_wanted);
    }

    /// Tells whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over keys and values, in order; the values can be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&String, &mut JsonValue)> {
        self.0.iter_mut()
    }

    /// Iterates over keys and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &JsonValue)> {
        self.0.iter()
    }
}

impl IntoIterator for JsonObject {
    type Item = (String, JsonValue);
    type IntoIter = IntoIter<String, JsonValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a JsonObject {
    type Item = (&'a String, &'a JsonValue);
    type IntoIter = Iter<'a, String, JsonValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<(String, JsonValue)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (String, JsonValue)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl FromIterator<(String, Self)> for JsonValue {
    fn from_iter<I: IntoIterator<Item = (String, Self)>>(members: I) -> Self {
        Self::Object(members.into_iter().collect())
    }
}

impl FromIterator<Self> for JsonValue {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        Self::Array(items.into_iter().collect())
    }
}

/// Keeps the order that the other value has.
impl From<serde_json::Value> for JsonValue {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(truth),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => items.into_iter().map(Self::from).collect(),
            serde_json::Value::Object(members) => Self::object(members),
        }
    }
}

impl From<JsonValue> for serde_json::Value {
    fn from(value: JsonValue) -> Self {
        match value {
            JsonValue::Null => Self::Null,
            JsonValue::Bool(truth) => Self::Bool(truth),
            JsonValue::Number(number) => Self::Number(number),
            JsonValue::String(text) => Self::String(text),
            JsonValue::Array(items) => items.into_iter().map(Self::from).collect(),
            JsonValue::Object(members) => {
                members.into_iter().map(|(key, value)| (key, Self::from(value))).collect()
            }
        }
    }
}

impl From<bool> for JsonValue {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<i64> for JsonValue {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for JsonValue {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

/// A number that JSON does not have, such as infinity, becomes null.
impl From<f64> for JsonValue {
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl From<&str> for JsonValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for JsonValue {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl<T: Into<Self>> From<Vec<T>> for JsonValue {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().map(Into::into).collect()
    }
}

impl From<JsonObject> for JsonValue {
    fn from(members: JsonObject) -> Self {
        Self::Object(members)
    }
}

/// `None` becomes null.
impl<T: Into<Self>> From<Option<T>> for JsonValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Parses JSON, which may have comments.
impl FromStr for JsonValue {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(&document::parse(text, Notation::Json)?.root))
    }
}

impl From<&Node> for JsonValue {
    fn from(node: &Node) -> Self {
        match &node.value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(digits) => Self::number(digits),
            Value::String(text) => Self::from(text.as_str()),
            Value::List(items) => items.iter().map(Self::from).collect(),
            Value::Map(map) => Self::object(map.iter().map(|(key, node)| (&*key.text, node))),
        }
    }
}

/// Writes it as JSON on one line.
impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Shows the kind, because a value may hold secrets.
impl fmt::Debug for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(_) => f.write_str("Bool"),
            Self::Number(_) => f.write_str("Number"),
            Self::String(_) => f.write_str("String"),
            Self::Array(items) => f.debug_list().entries(items).finish(),
            Self::Object(members) => members.fmt(f),
        }
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_stays() {
        let text = r#"{"z":1,"a":{"y":null,"b":[true,-2,1.5,"x"]},"m":{}}"#;
        let mut value: JsonValue = text.parse().unwrap();
        assert_eq!(value.to_string(), text);
        let members = value.as_object_mut().unwrap();
        members.insert("z", "new");
        members.insert("b", vec!["last"]);
        members.remove("a");
        assert_eq!(value.to_string(), r#"{"z":"new","m":{},"b":["last"]}"#);
    }

    #[test]
    fn objects_are_equal_in_any_order() {
        let [one, two] = [r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#];
        assert_eq!(one.parse::<JsonValue>().unwrap(), two.parse().unwrap());
    }

    #[test]
    fn the_debug_output_shows_keys_but_no_values() {
        let value: JsonValue = r#"{"env":{"TOKEN":"secret"},"args":["secret",1]}"#.parse().unwrap();
        let output = format!("{value:?}");
        assert_eq!(output, r#"{"env": {"TOKEN": String}, "args": [String, Number]}"#);
    }
}
