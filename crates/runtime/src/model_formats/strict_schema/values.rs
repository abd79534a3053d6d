//! The types of a schema, its constraints on strings and numbers, and `null` as another value.

use super::super::take;
use serde_json::{Map, Value};

/// The formats of strings that strict schemas may have.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const NUMBERS: [&str; 5] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Returns the types of a schema, as declared or as its other keywords imply; empty if any value is
/// allowed.
pub(super) fn types(keywords: &Map<String, Value>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |kind: &str| {
        if TYPES.contains(&kind) && !found.iter().any(|it| it == kind) {
            found.push(kind.to_owned());
        }
    };
    match keywords.get("type") {
        Some(Value::String(kind)) => add(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).for_each(add),
        _ => {
            let fixed = keywords.get("enum").and_then(Value::as_array).into_iter().flatten();
            for value in fixed.chain(keywords.get("const")) {
                add(type_of(value));
            }
            if found.is_empty() && keywords.contains_key("properties") {
                found.push("object".to_owned());
            } else if found.is_empty() && keywords.contains_key("items") {
                found.push("array".to_owned());
            }
        }
    }
    found
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Copies what is said about a value for the model.
pub(super) fn copy_notes(keywords: &Map<String, Value>, strict: &mut Map<String, Value>) {
    for key in ["title", "description"] {
        if let Some(text) = keywords.get(key).filter(|it| it.is_string()) {
            strict.insert(key.to_owned(), text.clone());
        }
    }
}

/// Copies the supported constraints of strings and numbers; fails with a keyword that leaves no
/// value.
pub(super) fn copy_constraints(
    keywords: &Map<String, Value>,
    types: &[String],
    strict: &mut Map<String, Value>,
) -> Result<(), &'static str> {
    let allows = |value: &&Value| {
        let kind = type_of(value);
        types.iter().any(|it| it == kind || (it == "number" && kind == "integer"))
    };
    if let Some(Value::Array(values)) = keywords.get("enum") {
        let values: Vec<Value> = values.iter().filter(allows).cloned().collect();
        if values.is_empty() {
            return Err("enum");
        }
        strict.insert("enum".to_owned(), values.into());
    } else if let Some(value) = keywords.get("const") {
        let value = Some(value).filter(allows).ok_or("const")?;
        strict.insert("const".to_owned(), value.clone());
    }
    for key in NUMBERS {
        if let Some(number) = keywords.get(key).filter(|it| it.is_number()) {
            strict.insert(key.to_owned(), number.clone());
        }
    }
    // A group with `(?` may look around, which is not supported.
    let is_simple = |text: &&str| !text.contains("(?");
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str).filter(is_simple) {
        strict.insert("pattern".to_owned(), pattern.into());
    }
    let is_known = |text: &&str| FORMATS.contains(text);
    if let Some(format) = keywords.get("format").and_then(Value::as_str).filter(is_known) {
        strict.insert("format".to_owned(), format.into());
    }
    Ok(())
}

/// Allows `null` as well, unless it is allowed already.
pub(super) fn add_null(strict: &mut Map<String, Value>) {
    let null = || Value::from("null");
    if let Some(Value::Array(branches)) = strict.get_mut("anyOf") {
        if !branches.iter().any(allows_null) {
            branches.push(Map::from_iter([("type".to_owned(), null())]).into());
        }
        return;
    }
    if allows_null(&Value::Object(strict.clone())) {
        return;
    }
    if strict.contains_key("$ref") {
        let reference = Value::Object(std::mem::take(strict));
        strict.insert(
            "anyOf".to_owned(),
            vec![reference, serde_json::json!({"type": "null"})].into(),
        );
        return;
    }
    match strict.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&null()) => kinds.push(null()),
        Some(kind) if kind.is_string() && *kind != null() => {
            *kind = vec![kind.clone(), null()].into();
        }
        _ => {}
    }
    if let Some(fixed) = take(strict, "const") {
        strict.insert("enum".to_owned(), vec![fixed].into());
    }
    if let Some(Value::Array(values)) = strict.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

fn allows_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let has_type = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_null),
        Some(kind) => is_null(kind),
        None => {
            return schema
                .get("anyOf")
                .and_then(Value::as_array)
                .is_some_and(|all| all.iter().any(allows_null));
        }
    };
    let values = schema.get("enum").and_then(Value::as_array);
    let fixed = schema.get("const");
    has_type
        && values.is_none_or(|all| all.contains(&Value::Null))
        && fixed.is_none_or(Value::is_null)
}
