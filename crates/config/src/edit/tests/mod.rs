//! Snapshot tests of edited and redacted files.

mod json;
mod redact;
mod toml;

use super::{Change, JsonValue, apply};
use crate::document::Notation;

fn path(keys: &str) -> Vec<String> {
    keys.split('/').map(str::to_owned).collect()
}

fn set(keys: &str, value: impl Into<JsonValue>) -> Change {
    Change::Set { path: path(keys), value: value.into() }
}

fn remove(keys: &str) -> Change {
    Change::Remove { path: path(keys) }
}

fn include(keys: &str, item: &str) -> Change {
    Change::Include { path: path(keys), item: item.to_owned() }
}

fn exclude(keys: &str, item: &str) -> Change {
    Change::Exclude { path: path(keys), item: item.to_owned() }
}

/// Applies a change, and checks that applying it again changes nothing.
fn edited(text: &str, notation: Notation, change: &Change) -> String {
    let once = apply(text, notation, std::slice::from_ref(change)).unwrap();
    let twice = apply(&once, notation, std::slice::from_ref(change)).unwrap();
    assert_eq!(once, twice, "the same change again changed something");
    once
}

/// Returns the error and the hint of a refused change.
fn refusal(text: &str, notation: Notation, change: Change) -> String {
    let error = apply(text, notation, &[change]).unwrap_err();
    format!("{error} | {}", error.hint())
}
