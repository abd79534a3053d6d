//! Generates values that match a schema: the default, an allowed constant, or a value of the type.

use serde_json::{Map, Value, json};

/// Generates the required members of an object schema.
pub(crate) fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), value(&schema["properties"][name]))).collect()
}

/// Generates all members of an object schema.
pub(crate) fn all(schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), value(schema))).collect()
}

fn value(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    let constants = [&schema["const"], &schema["enum"][0], &schema["oneOf"][0]["const"]];
    if let Some(constant) = constants.into_iter().find(|value| !value.is_null()) {
        return constant.clone();
    }
    let kind = if schema["type"].is_array() { &schema["type"][0] } else { &schema["type"] };
    match kind.as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("object") => Value::Object(required(schema)),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ => json!("x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(property: &Value, expected: &Value) {
        assert_eq!(&value(property), expected, "{property}");
    }

    #[test]
    fn values_match_the_schema() {
        check(&json!({"type": "string"}), &json!("x"));
        check(&json!({"type": "integer", "default": 30}), &json!(30));
        check(&json!({"type": ["number", "null"]}), &json!(1));
        check(&json!({"type": "boolean"}), &json!(true));
        check(&json!({"type": "string", "enum": ["a", "b"]}), &json!("a"));
        check(&json!({"type": "string", "oneOf": [{"const": "c", "title": "C"}]}), &json!("c"));
        check(
            &json!({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}),
            &json!({"a": []}),
        );
        check(&json!({}), &json!("x"));
    }

    #[test]
    fn all_members_include_optional_ones() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"default": false}}});
        assert_eq!(Value::Object(all(&schema)), json!({"a": "x", "b": false}));
        assert!(required(&schema).is_empty());
    }
}
