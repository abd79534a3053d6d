//! Removes from arguments the `null`s that a strict schema made the model give for optional ones.
//!
//! A server does not know the strict schema and mostly refuses `null`. A `null` stays where the
//! tool's own schema allows it, or where the argument is required.

use serde_json::{Map, Value};
use wharf_protocol::Json;

use super::object_schema::object_value;
use crate::arguments::local_reference::referenced;
use crate::tools::Tool;

/// The maximum nesting of schemas and references.
const MAX_DEPTH: usize = 64;

impl Tool {
    /// Returns the arguments of a call to a strict tool without the `null`s that stand for missing
    /// optional arguments; see [`Tool::to_strict_openai`]. Other arguments are returned unchanged.
    #[must_use]
    pub fn without_added_nulls(&self, arguments: &Json) -> Json {
        if !arguments.as_str().contains("null") {
            return arguments.clone();
        }
        let parsed = (self.accepted_schema().to::<Value>(), arguments.to::<Value>());
        let (Some(schema), Some(mut value)) = parsed else { return arguments.clone() };
        let root = Value::Object(object_value(&schema));
        if !remove_nulls(&root, &root, &mut value, 0) {
            return arguments.clone();
        }
        Json::encode(&value).unwrap_or_else(|_| arguments.clone())
    }
}

/// Removes the `null`s below a value; tells whether there were any.
fn remove_nulls(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let mut changed = false;
    if let Some(target) = schema.get("$ref").and_then(|it| referenced(root, it)) {
        changed |= remove_nulls(root, target, value, depth + 1);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for branch in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            changed |= remove_nulls(root, branch, value, depth + 1);
        }
    }
    match (value, schema.get("properties"), schema.get("items")) {
        (Value::Object(members), Some(Value::Object(properties)), _) => {
            changed | remove_members(root, schema, properties, members, depth)
        }
        (Value::Array(items), _, Some(schema)) => items
            .iter_mut()
            .fold(changed, |changed, item| changed | remove_nulls(root, schema, item, depth + 1)),
        _ => changed,
    }
}

fn remove_members(
    root: &Value,
    schema: &Value,
    properties: &Map<String, Value>,
    members: &mut Map<String, Value>,
    depth: usize,
) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|it| it == name));
    let before = members.len();
    members.retain(|name, value| match properties.get(name) {
        Some(schema) if value.is_null() => is_required(name) || allows_null(root, schema, 0),
        _ => true,
    });
    let mut changed = members.len() < before;
    for (name, value) in members {
        if let Some(schema) = properties.get(name) {
            changed |= remove_nulls(root, schema, value, depth + 1);
        }
    }
    changed
}

fn allows_null(root: &Value, schema: &Value, depth: usize) -> bool {
    let Some(keywords) = schema.as_object().filter(|_| depth <= MAX_DEPTH) else { return true };
    if keywords.get("nullable") == Some(&Value::Bool(true)) {
        return true;
    }
    if let Some(target) = keywords.get("$ref").and_then(|it| referenced(root, it)) {
        return allows_null(root, target, depth + 1);
    }
    let allows = |branch: &Value| allows_null(root, branch, depth + 1);
    let fixed = keywords.get("const").is_none_or(Value::is_null);
    let listed =
        keywords.get("enum").and_then(Value::as_array).is_none_or(|it| it.contains(&Value::Null));
    let typed = match keywords.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|it| it == "null"),
        Some(kind) => kind == "null",
        None => !["properties", "items"].iter().any(|key| keywords.contains_key(*key)),
    };
    let any = ["anyOf", "oneOf"].iter().filter_map(|key| keywords.get(*key)?.as_array());
    let all = keywords.get("allOf").and_then(Value::as_array);
    fixed
        && listed
        && typed
        && any.into_iter().all(|it| it.iter().any(allows))
        && all.is_none_or(|it| it.iter().all(allows))
}
