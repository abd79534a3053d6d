//! Any schema of a tool's arguments, sensible or not.

use proptest::prelude::*;
use serde_json::{Map, Value};

const KEYS: [&str; 26] = [
    "type",
    "properties",
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "items",
    "$ref",
    "$defs",
    "enum",
    "default",
    "const",
    "additionalProperties",
    "a",
    "b c",
    "format",
    "pattern",
    "minItems",
    "minimum",
    "not",
    "prefixItems",
    "patternProperties",
    "nullable",
    "description",
    "title",
    "definitions",
];

const WORDS: [&str; 17] = [
    "object",
    "string",
    "null",
    "array",
    "integer",
    "number",
    "boolean",
    "a",
    "#",
    "#/$defs/a",
    "#/definitions/a",
    "#/properties/a",
    "#/anyOf/0",
    "date-time",
    "(?=a)",
    "",
    "b c",
];

/// Returns values made of keywords.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        Just(Value::from(1.5)),
        prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            2 => members(inner.clone()),
            3 => sensible(inner),
        ]
    })
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let member = (prop::sample::select(KEYS.to_vec()), inner);
    prop::collection::vec(member, 0..5).prop_map(|members| {
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    })
}

/// Returns schemas that mostly have a strict form.
fn sensible(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let property = (prop::sample::select(vec!["a", "b", "c d"]), inner.clone());
    let properties = prop::collection::vec(property, 1..4);
    let object = (properties, any::<bool>()).prop_map(|(properties, is_needed)| {
        let properties: Map<String, Value> =
            properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        let first: Vec<String> = properties.keys().take(usize::from(is_needed)).cloned().collect();
        serde_json::json!({ "type": "object", "properties": properties, "required": first })
    });
    let kind = prop::sample::select(vec!["string", "integer", "boolean", "null"]);
    prop_oneof![
        3 => object,
        2 => kind.prop_map(|kind| serde_json::json!({ "type": kind })),
        1 => inner.clone().prop_map(|items| serde_json::json!({ "type": "array", "items": items })),
        1 => prop::collection::vec(inner, 1..3).prop_map(|all| serde_json::json!({ "anyOf": all })),
        1 => Just(serde_json::json!({ "$ref": "#/$defs/a", "description": "d" })),
        1 => Just(serde_json::json!({ "enum": ["x", 1, null] })),
    ]
}

/// Returns schemas whose root is an object that Wharf accepts.
pub(super) fn any_schema() -> impl Strategy<Value = Value> {
    let properties =
        prop::collection::vec((prop::sample::select(vec!["a", "b", "c d"]), value()), 0..3);
    (properties, members(value()), prop::option::of(value())).prop_map(
        |(properties, more, definition)| {
            let mut root = more.as_object().cloned().unwrap_or_default();
            root.insert("type".to_owned(), "object".into());
            let properties: Map<String, Value> =
                properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            root.insert("properties".to_owned(), properties.into());
            if let Some(definition) = definition {
                root.insert("$defs".to_owned(), serde_json::json!({ "a": definition }));
            }
            root.into()
        },
    )
}
