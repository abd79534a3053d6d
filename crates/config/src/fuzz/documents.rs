//! Fuzz targets for the parsers: a text is parsed or rejected, and all lines are within the text.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::document::{self, MAX_DEPTH, Node, Notation, SyntaxError, Value};

/// Parses JSON, and compares the value with that of `serde_json` if both accept the text.
pub(super) fn json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let ours = read(&text, Notation::Json);
    if let Ok(theirs) = serde_json::from_str::<Json>(&text) {
        assert!(ours.is_ok_and(|node| is_same(&node, &theirs)), "serde_json reads it differently");
    }
}

/// Parses TOML.
pub(super) fn toml(bytes: &[u8]) {
    drop(read(&String::from_utf8_lossy(bytes), Notation::Toml));
}

/// Parses YAML.
pub(super) fn yaml(bytes: &[u8]) {
    drop(read(&String::from_utf8_lossy(bytes), Notation::Yaml));
}

/// Parses a text and checks the invariants of the result.
fn read(text: &str, notation: Notation) -> Result<Node, SyntaxError> {
    let lines = LineRange::of(text);
    match document::parse(text, notation) {
        Ok(parsed) => {
            lines.check_node(&parsed.root, 0);
            for duplicate in parsed.duplicate_keys {
                lines.check(duplicate.line);
                lines.check(duplicate.first_line);
                assert!(duplicate.first_line <= duplicate.line, "the later key is used");
            }
            Ok(parsed.root)
        }
        Err(error) => {
            lines.check(error.line);
            assert!(error.column >= 1, "columns are counted from 1");
            let message = &error.message;
            assert!(!message.starts_with(char::is_uppercase), "{message:?} is not lower case");
            assert!(!message.is_empty() && !message.ends_with('.'), "{message:?} is not a phrase");
            assert!(!message.contains(char::is_control), "{message:?} is not one line");
            Err(error)
        }
    }
}

/// The range of valid lines of a text.
pub(super) struct LineRange {
    last: u32,
}

impl LineRange {
    pub(super) fn of(text: &str) -> Self {
        let last = 1 + text.replace("\r\n", "\n").matches(['\n', '\r']).count();
        Self { last: u32::try_from(last).unwrap_or(u32::MAX) }
    }

    pub(super) fn check(&self, line: u32) {
        assert!((1..=self.last).contains(&line), "line {line} is not in 1..={}", self.last);
    }

    fn check_node(&self, node: &Node, depth: usize) {
        self.check(node.line);
        let (items, map) = (node.as_list(), node.as_map());
        let depth = if items.is_some() || map.is_some() { depth + 1 } else { depth };
        assert!(depth <= MAX_DEPTH, "nested too deep");
        for item in items.unwrap_or_default() {
            self.check_node(item, depth);
        }
        let mut seen = HashSet::new();
        for (key, value) in map.iter().flat_map(|map| map.iter()) {
            self.check(key.line);
            assert!(seen.insert(&key.text), "a key appears twice");
            self.check_node(value, depth);
        }
    }
}

/// Tells whether two parsers return the same value.
///
/// Numbers are not compared: we keep digits that the other parser rounds.
pub(super) fn is_same(ours: &Node, theirs: &Json) -> bool {
    match (&ours.value, theirs) {
        (Value::Null, Json::Null) | (Value::Number(_), Json::Number(_)) => true,
        (Value::Bool(ours), Json::Bool(theirs)) => ours == theirs,
        (Value::String(ours), Json::String(theirs)) => ours == theirs,
        (Value::List(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(ours), Json::Object(theirs)) => {
            ours.0.len() == theirs.len()
                && ours.iter().all(|(key, ours)| {
                    theirs.get(&key.text).is_some_and(|theirs| is_same(ours, theirs))
                })
        }
        _ => false,
    }
}
