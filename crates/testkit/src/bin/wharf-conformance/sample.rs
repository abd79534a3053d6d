//! Makes up values that fit a schema: the default if there is one, else something of the type.

use serde_json::{Map, Value, json};

/// Makes up what a schema requires.
pub(crate) fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), value(&schema["properties"][name]))).collect()
}

/// Makes up everything that a schema names.
pub(crate) fn everything(schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), value(schema))).collect()
}

fn value(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    let chosen = [&schema["const"], &schema["enum"][0], &schema["oneOf"][0]["const"]];
    if let Some(chosen) = chosen.into_iter().find(|value| !value.is_null()) {
        return chosen.clone();
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
    fn values_have_the_type_of_the_schema() {
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
    fn a_form_is_filled_in_completely() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"default": false}}});
        assert_eq!(Value::Object(everything(&schema)), json!({"a": "x", "b": false}));
        assert!(required(&schema).is_empty());
    }
}
