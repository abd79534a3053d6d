//! A value of a config file with its line number.

use std::fmt;

/// A value and the line on which it begins.
#[derive(Clone, PartialEq)]
pub struct Node {
    /// The line, counted from 1.
    pub line: u32,
    /// The value.
    pub value: Value,
}

/// A value of a config file.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, with the digits of the file.
    Number(String),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file.
    Map(Map),
}

/// Keys and values in the order of the file; keys are unique.
#[derive(Clone, PartialEq, Default)]
pub struct Map(pub Vec<(Key, Node)>);

/// A key and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The text of the key.
    pub text: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl Node {
    /// Makes a node with a line and a value.
    pub fn new(line: u32, value: Value) -> Self {
        Self { line, value }
    }

    /// Returns the value under a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    /// Follows keys from map to map.
    pub fn pointer(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the list, if it is one.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Returns the number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match &self.value {
            Value::Number(digits) => digits.replace('_', "").parse().ok(),
            _ => None,
        }
    }

    /// Tells whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Names the kind of value, with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }
}

impl Map {
    /// Returns the value under a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(own, _)| own.text == key).map(|(_, node)| node)
    }

    /// Iterates over keys and values in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Node)> {
        self.0.iter().map(|(key, node)| (key, node))
    }

    /// Tells whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Shows the structure but no scalars, which may be secrets.
/// Shows the kind of a scalar, because a value may be a secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(_) => f.write_str("Bool"),
            Self::Number(_) => f.write_str("Number"),
            Self::String(_) => f.write_str("String"),
            Self::List(list) => list.fmt(f),
            Self::Map(map) => map.fmt(f),
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::List(list) => f.debug_list().entries(list).finish(),
            Value::Map(map) => map.fmt(f),
            _ => f.write_str(self.kind()),
        }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(key, node)| (&key.text, node))).finish()
    }
}
