//! A canary: a secret put into variables and headers, to check that no output contains it.

use crate::document::{Node, Value};

/// The secret. It begins with a blank, so that no placeholder can contain it.
pub(super) const CANARY: &str = " s3cret-canary";

/// Adds the secret to all variables and headers, and to nothing else.
///
/// A server may be named "env", so only keys that begin with a capital letter count as variables:
/// the fields of all programs begin with a small letter.
pub(super) fn plant(node: &mut Node) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(plant),
        Value::Map(map) => {
            for (key, value) in &mut map.0 {
                if is_group(&key.text) {
                    plant_in_group(value);
                }
                plant(value);
            }
        }
        _ => {}
    }
}

/// Tells whether all values below a key are secrets.
pub(super) fn is_group(key: &str) -> bool {
    ["env", "environment", "envs", "headers", "http_headers"].contains(&key)
}

/// Tells whether a text contains the secret.
pub(super) fn is_in(text: &str) -> bool {
    text.contains(CANARY.trim())
}

fn plant_in_group(group: &mut Node) {
    let is_capital = |text: &str| text.starts_with(|first: char| first.is_ascii_uppercase());
    match &mut group.value {
        Value::Map(map) => {
            for (_, value) in map.0.iter_mut().filter(|(key, _)| is_capital(&key.text)) {
                if let Value::String(text) = &mut value.value {
                    text.push_str(CANARY);
                }
            }
        }
        // `NAME=value` or `Name: value`.
        Value::List(lines) => {
            for line in lines {
                if let Value::String(text) = &mut line.value
                    && is_capital(text)
                    && text.contains(['=', ':'])
                {
                    text.push_str(CANARY);
                }
            }
        }
        _ => {}
    }
}

/// Fails if an output contains the secret.
pub(super) fn assert_hidden(rendered: &str, what: &str) {
    assert!(!is_in(rendered), "{what} shows a secret: {rendered}");
}
