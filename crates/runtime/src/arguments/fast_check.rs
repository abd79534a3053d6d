//! The fast check: accepts common arguments for a common schema without compiling the schema.
//!
//! Compiling takes as long as starting a server, and most schemas only have properties, types and
//! required properties. The fast check only accepts: unknown keywords and arguments that do not
//! match are left to the full check, which also describes the problem.

use serde_json::{Map, Value};

/// How many values are visited before the rest is left to the full check, which limits the cost.
const MAX_STEPS: u32 = 20_000;

/// The maximum depth of schemas.
const DEEPEST: u32 = 32;

/// Tells whether arguments certainly match a schema.
pub(super) fn fits(schema: &Value, arguments: &Value) -> bool {
    FastCheck { steps: MAX_STEPS }.fits(schema, arguments, DEEPEST)
}

struct FastCheck {
    steps: u32,
}

impl FastCheck {
    fn fits(&mut self, schema: &Value, value: &Value, depth: u32) -> bool {
        let (Some(steps), Some(depth)) = (self.steps.checked_sub(1), depth.checked_sub(1)) else {
            return false;
        };
        self.steps = steps;
        match schema {
            Value::Bool(any) => *any,
            Value::Object(members) => {
                members.iter().all(|(keyword, wanted)| match keyword.as_str() {
                    _ if !self.spend(wanted, value) => false,
                    "properties" => self.properties(wanted, value, depth),
                    "additionalProperties" => self.additional(members, wanted, value, depth),
                    "items" => self.items(wanted, value, depth),
                    "anyOf" => some(wanted, |one| self.fits(one, value, depth)),
                    _ => is_satisfied(keyword, wanted, value),
                })
            }
            _ => false,
        }
    }

    /// Subtracts the cost of a keyword beyond one step: a long list or a long text.
    fn spend(&mut self, wanted: &Value, value: &Value) -> bool {
        let items = wanted.as_array().map_or(0, Vec::len);
        let text = value.as_str().map_or(0, str::len) / 64;
        let cost = u32::try_from(items.saturating_add(text)).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_sub(cost);
        self.steps > 0
    }

    fn properties(&mut self, schemas: &Value, value: &Value, depth: u32) -> bool {
        let (Value::Object(schemas), Value::Object(members)) = (schemas, value) else {
            return schemas.is_object();
        };
        members.iter().all(|(name, value)| {
            schemas.get(name).is_none_or(|schema| self.fits(schema, value, depth))
        })
    }

    fn additional(
        &mut self,
        schema: &Map<String, Value>,
        wanted: &Value,
        value: &Value,
        depth: u32,
    ) -> bool {
        let Value::Object(members) = value else { return true };
        let named = schema.get("properties").and_then(Value::as_object);
        let is_named = |name: &str| named.is_some_and(|named| named.contains_key(name));
        members.iter().all(|(name, value)| is_named(name) || self.fits(wanted, value, depth))
    }

    fn items(&mut self, schema: &Value, value: &Value, depth: u32) -> bool {
        match value {
            Value::Array(items) => items.iter().all(|item| self.fits(schema, item, depth)),
            _ => true,
        }
    }
}

fn some(list: &Value, test: impl FnMut(&Value) -> bool) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(test))
}

/// Tells whether a keyword without subschemas is certainly satisfied.
fn is_satisfied(keyword: &str, wanted: &Value, value: &Value) -> bool {
    match keyword {
        // Annotations. Definitions count only where a reference leads to them.
        "$schema" | "$comment" | "title" | "description" | "default" | "examples" | "format"
        | "deprecated" | "readOnly" | "writeOnly" | "$defs" | "definitions" => true,
        "type" => match wanted {
            Value::String(name) => is_of(value, name),
            names => some(names, |name| name.as_str().is_some_and(|name| is_of(value, name))),
        },
        "enum" => some(wanted, |one| one == value),
        "const" => wanted == value,
        "required" => wanted.as_array().is_some_and(|names| {
            let is_there = |name: &str| value.as_object().is_none_or(|it| it.contains_key(name));
            names.iter().all(|name| name.as_str().is_some_and(is_there))
        }),
        "minimum" => whole(wanted, value).is_some_and(|(least, value)| value >= least),
        "maximum" => whole(wanted, value).is_some_and(|(most, value)| value <= most),
        "minLength" => limited(wanted, value).is_some_and(|(least, length)| length >= least),
        "maxLength" => limited(wanted, value).is_some_and(|(most, length)| length <= most),
        _ => false,
    }
}

/// Tells whether a value certainly has a type; `false` if in doubt.
fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

fn whole(wanted: &Value, value: &Value) -> Option<(i64, i64)> {
    Some((wanted.as_i64()?, value.as_i64()?))
}

fn limited(wanted: &Value, value: &Value) -> Option<(u64, u64)> {
    let length = u64::try_from(value.as_str()?.chars().count()).ok()?;
    Some((wanted.as_u64()?, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn usual_arguments_fit_a_usual_schema() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "where", "minLength": 1, "maxLength": 9},
                "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
                "mode": {"enum": ["read", "write"]},
                "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Maybe"},
                "many": {"type": ["string", "number"]},
                "list": {"type": "array", "items": {"type": "object", "required": ["a"]}},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let sure = |arguments: Value| fits(&schema, &arguments);
        assert!(sure(json!({"path": "a"})));
        assert!(sure(json!({"path": "a", "count": 3, "mode": "read", "maybe": null, "many": 0.5})));
        assert!(sure(json!({"path": "a", "list": [{"a": 1}, {"a": 2, "b": 3}]})));
        for unsure in [
            json!({}),
            json!({"path": 7}),
            json!({"path": ""}),
            json!({"path": "0123456789"}),
            json!({"path": "a", "count": 11}),
            json!({"path": "a", "count": 3.0}),
            json!({"path": "a", "mode": "raed"}),
            json!({"path": "a", "other": 1}),
            json!({"path": "a", "list": [{}]}),
        ] {
            assert!(!sure(unsure.clone()), "{unsure}");
        }
    }

    #[test]
    fn unknown_keywords_are_left_to_the_full_check() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"not": {}}),
            json!({"patternProperties": {"a": true}}),
            json!({"type": "objekt"}),
            json!({"properties": 7}),
            json!({"required": "a"}),
            json!(7),
            json!(false),
        ] {
            assert!(!fits(&schema, &json!({"a": 1})), "{schema}");
        }
    }

    #[test]
    fn too_much_work_is_left_to_the_full_check() {
        let mut deep = json!({});
        for _ in 0..DEEPEST {
            deep = json!({"anyOf": [deep]});
        }
        assert!(!fits(&deep, &json!({})));
        let many = vec![json!(1); MAX_STEPS as usize];
        assert!(!fits(&json!({"items": true}), &json!(many)));
    }

    #[test]
    fn a_limit_with_a_fraction_is_left_to_the_full_check() {
        for limit in [json!(5.0), json!(1e30), json!(-1)] {
            for keyword in ["minLength", "maxLength", "minimum", "maximum"] {
                assert!(!fits(&json!({ keyword: limit }), &json!("abc")), "{keyword} {limit}");
            }
        }
    }

    #[test]
    fn long_lists_and_texts_count_as_work() {
        let names: Vec<Value> = (0..10_000).map(|it| json!(it)).collect();
        let many = json!(vec![json!(9_999); 10]);
        assert!(!fits(&json!({"items": {"enum": names}}), &many));
        let some: Vec<Value> = (0..10).map(|_| json!({"maxLength": 0})).collect();
        assert!(!fits(&json!({"anyOf": some}), &json!("x".repeat(2_000_000))));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..4).prop_map(Value::from),
            Just(json!(1.0)),
            Just(json!(0.5)),
            "[aé]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                members(inner),
            ]
        })
    }

    fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[ab]", value, 0..3)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    }

    fn schema() -> impl Strategy<Value = Value> {
        let name =
            prop::sample::select(vec!["object", "array", "string", "integer", "number", "null"]);
        let leaf = prop_oneof![
            name.clone().prop_map(|name| json!({"type": name})),
            prop::collection::vec(name, 1..3).prop_map(|names| json!({"type": names})),
            prop::collection::vec(value(), 1..3).prop_map(|values| json!({"enum": values})),
            value().prop_map(|value| json!({"const": value})),
            (-3_i64..4).prop_map(|number| json!({"minimum": number})),
            (-3_i64..4).prop_map(|number| json!({"maximum": number})),
            (0_u64..4).prop_map(|number| json!({"minLength": number})),
            Just(json!({"minLength": 2.0})),
            Just(json!({"maximum": 1.5})),
            (0_u64..4).prop_map(|number| json!({"maxLength": number})),
            any::<bool>().prop_map(Value::from),
            Just(json!({"title": "x", "multipleOf": 2})),
        ];
        leaf.prop_recursive(3, 24, 3, |inner| {
            let named = members(inner.clone());
            prop_oneof![
                (named, prop::option::of(inner.clone()), prop::collection::btree_set("[ab]", 0..2))
                    .prop_map(|(properties, additional, required)| {
                        let mut schema = json!({"properties": properties, "required": required});
                        if let Some(additional) = additional {
                            schema["additionalProperties"] = additional;
                        }
                        schema
                    }),
                inner.clone().prop_map(|items| json!({"items": items})),
                prop::collection::vec(inner, 1..3).prop_map(|some| json!({"anyOf": some})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn arguments_that_pass_the_fast_check_are_valid(schema in schema(), value in value()) {
            if fits(&schema, &value)
                && let Ok(validator) = jsonschema::options().offline().build(&schema)
            {
                prop_assert!(validator.is_valid(&value));
            }
        }
    }
}
