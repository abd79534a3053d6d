//! A model of the edits: the same changes on plain JSON values.

use proptest::prelude::*;
use toml_edit::Item;
use wharf_config::document::Node;
use wharf_config::edit::{Change, JsonObject, JsonValue as Value};

/// The expected result of a change.
#[derive(Debug)]
pub(crate) enum Expected {
    Value(Value),
    NotAnObject,
    NotAList,
}

/// A few keys, so that paths often match; some need quotes in JSON or TOML.
pub(crate) const KEYS: [&str; 6] = ["a", "b", "mcp_servers", "d.e", "é \"q\"\\", "\n\u{1}\u{7f}#"];

pub(crate) fn key() -> impl Strategy<Value = String> {
    prop::sample::select(&KEYS[..]).prop_map(str::to_owned)
}

pub(crate) fn item() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "y", "// no comment # \"", "z\r\n"]).prop_map(str::to_owned)
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    let path = prop::collection::vec(key(), 1..4).boxed();
    prop_oneof![
        3 => (path.clone(), value()).prop_map(|(path, value)| Change::Set { path, value }),
        2 => path.clone().prop_map(|path| Change::Remove { path }),
        1 => (path.clone(), item()).prop_map(|(path, item)| Change::Include { path, item }),
        1 => (path, item()).prop_map(|(path, item)| Change::Exclude { path, item }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(|number| i64::from(number).into()),
        Just(Value::from(2.5)),
        item().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((key(), inner), 0..3)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Applies a change to JSON, which has null.
pub(crate) fn json(before: &Value, change: &Change) -> Expected {
    let mut whole = before.clone();
    match change {
        Change::Set { path, value } => put(whole, path, value.clone()),
        Change::Remove { path } => {
            take(&mut whole, path);
            Expected::Value(whole)
        }
        Change::Include { path, item } => match list(&whole, path) {
            Err(error) => error,
            Ok(mut items) => {
                if items.contains(&text(item)) {
                    return Expected::Value(whole);
                }
                items.push(text(item));
                put(whole, path, items.into())
            }
        },
        Change::Exclude { path, item } => match list(&whole, path) {
            Err(error) => error,
            Ok(items) => {
                let left: Vec<Value> =
                    items.iter().filter(|own| **own != text(item)).cloned().collect();
                if left == items { Expected::Value(whole) } else { put(whole, path, left.into()) }
            }
        },
    }
}

/// Applies a change to TOML, which has no null.
pub(crate) fn toml(before: &Value, change: &Change) -> Expected {
    match change {
        Change::Set { path, value: Value::Null } => {
            json(before, &Change::Remove { path: path.clone() })
        }
        Change::Set { path, value } => {
            let value = without_nulls(value.clone());
            json(before, &Change::Set { path: path.clone(), value })
        }
        Change::Include { path, .. } | Change::Exclude { path, .. } => {
            let at = path.iter().try_fold(before, |value, key| value.get(key));
            match at {
                // This list is written as `[[tables]]`, to which a string cannot be added.
                Some(Value::Array(items)) if items.iter().any(Value::is_object) => {
                    Expected::NotAList
                }
                _ => json(before, change),
            }
        }
        Change::Remove { .. } => json(before, change),
    }
}

/// Returns the inverse of a change that only adds to an existing value.
pub(crate) fn undo(before: &Value, change: &Change) -> Option<Change> {
    match change {
        Change::Set { path, value } if !value.is_null() => {
            let (key, parents) = path.split_last()?;
            let parent =
                parents.iter().try_fold(before, |value, key| value.get(key))?.as_object()?;
            // One line with only keys is reformatted, so it cannot be restored.
            let has_number = parent.iter().any(|(_, value)| matches!(value, Value::Number(_)));
            let is_addition = parent.get(key).is_none() && has_number;
            is_addition.then(|| Change::Remove { path: path.clone() })
        }
        Change::Include { path, item } => {
            let items = path.iter().try_fold(before, |value, key| value.get(key))?.as_array()?;
            let is_addition = !items.is_empty() && !items.contains(&text(item));
            is_addition.then(|| Change::Exclude { path: path.clone(), item: item.clone() })
        }
        _ => None,
    }
}

fn put(mut whole: Value, path: &[String], value: Value) -> Expected {
    let mut at = &mut whole;
    for key in path {
        if at.is_null() {
            *at = Value::Object(JsonObject::new());
        }
        let Value::Object(members) = at else { return Expected::NotAnObject };
        if members.get(key).is_none() {
            members.insert(key.clone(), Value::Null);
        }
        let Some(next) = members.get_mut(key) else { return Expected::NotAnObject };
        at = next;
    }
    *at = value;
    Expected::Value(whole)
}

fn take(whole: &mut Value, path: &[String]) {
    let Some((key, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(whole, |value, key| value.as_object_mut()?.get_mut(key));
    if let Some(Value::Object(members)) = parent {
        members.remove(key);
    }
}

fn list(whole: &Value, path: &[String]) -> Result<Vec<Value>, Expected> {
    let mut at = whole;
    for key in path {
        match at {
            Value::Object(members) => match members.get(key) {
                Some(value) => at = value,
                None => return Ok(Vec::new()),
            },
            Value::Null => return Ok(Vec::new()),
            _ => return Err(Expected::NotAnObject),
        }
    }
    match at {
        Value::Array(items) => Ok(items.clone()),
        Value::Null => Ok(Vec::new()),
        _ => Err(Expected::NotAList),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => {
            items.into_iter().filter(|item| !item.is_null()).map(without_nulls).collect()
        }
        scalar => scalar,
    }
}

/// Removes empty objects.
pub(crate) fn without_empty_objects(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| (key, without_empty_objects(value)))
            .filter(|(_, value)| value.as_object().is_none_or(|members| !members.is_empty()))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_empty_objects).collect(),
        scalar => scalar,
    }
}

pub(crate) fn of_node(node: &Node) -> Value {
    node.into()
}

fn text(text: &str) -> Value {
    text.into()
}

pub(crate) fn of_toml(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_toml_value(value),
        Item::Table(table) => {
            table.iter().map(|(key, item)| (key.to_owned(), of_toml(item))).collect()
        }
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| of_toml(&Item::Table(table.clone()))).collect()
        }
    }
}

fn of_toml_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
        toml_edit::Value::Datetime(date) => date.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(of_toml_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), of_toml_value(value))).collect()
        }
    }
}
