//! Makes the root of a tool's schema a plain object: `type` is `object`, and there is no `$ref`,
//! `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not` beside it; `required` is a list of names.
//!
//! OpenAI and Anthropic refuse a whole request if the root of one schema is anything else. The
//! arguments of all branches are merged, so no argument is lost; which of them belong together is
//! checked when the tool is called.

use std::collections::HashSet;

use serde_json::{Map, Value};
use wharf_protocol::Json;

use super::take;
use crate::arguments::local_reference::referenced;

/// The keywords that make a root something else than a plain object.
const COMBINING: [&str; 7] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];

/// The maximum number of schemas that are merged into a root.
const MAX_MERGED: usize = 200;

/// Returns the schema with a plain object as its root. A schema that already has one is returned
/// unchanged, with its digits and its order.
pub(super) fn object_schema(schema: &Json) -> Json {
    let is_object = schema.get("type").is_some_and(|kind| kind.as_str() == "\"object\"");
    let has_names = schema.get("required").is_none_or(|names| is_list_of_texts(&names));
    if is_object && has_names && !COMBINING.iter().any(|key| schema.has(key)) {
        return schema.clone();
    }
    let value = schema.to::<Value>();
    let object = value.map(|value| object_value(&value)).and_then(|it| Json::encode(&it).ok());
    object.unwrap_or_else(Json::object)
}

fn is_list_of_texts(json: &Json) -> bool {
    json.items().is_some_and(|items| items.iter().all(|item| item.as_str().starts_with('"')))
}

/// Returns the schema with a plain object as its root.
pub(super) fn object_value(schema: &Value) -> Map<String, Value> {
    let arguments = Merger { whole: schema, budget: MAX_MERGED }.merged(schema);
    let own = schema.as_object().into_iter().flatten();
    let kept = own.filter(|(key, _)| !COMBINING.contains(&key.as_str()));
    let mut root: Map<String, Value> =
        kept.map(|(key, value)| (key.clone(), value.clone())).collect();
    root.insert("type".to_owned(), "object".into());
    let properties = root.entry("properties").or_insert_with(|| Map::new().into());
    if !properties.is_object() {
        *properties = Map::new().into();
    }
    if let Some(properties) = properties.as_object_mut() {
        for (name, schema) in arguments.properties {
            properties.entry(name).or_insert_with(|| schema.clone());
        }
    }
    let required: Vec<Value> = arguments.required.into_iter().map(Value::from).collect();
    match root.get_mut("required") {
        Some(Value::Array(names)) => *names = required,
        // Some languages encode an empty list as `null`.
        Some(_) if required.is_empty() => drop(take(&mut root, "required")),
        None if required.is_empty() => {}
        _ => drop(root.insert("required".to_owned(), required.into())),
    }
    root
}

struct Merger<'a> {
    whole: &'a Value,
    /// How many schemas may still be merged: references can be recursive.
    budget: usize,
}

/// The arguments of a schema and of its branches: borrowed, because a reference to the whole schema
/// can be followed often.
#[derive(Default)]
struct MergedArguments<'a> {
    properties: Vec<(&'a str, &'a Value)>,
    required: Vec<&'a str>,
}

impl<'a> Merger<'a> {
    /// Returns the arguments of a schema and of its branches.
    fn merged(&mut self, schema: &'a Value) -> MergedArguments<'a> {
        let Some(own) = schema.as_object().filter(|_| self.budget > 0) else {
            return MergedArguments::default();
        };
        self.budget -= 1;
        let properties = own.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = own.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut merged = MergedArguments {
            properties: properties.map(|(name, schema)| (name.as_str(), schema)).collect(),
            required: required.filter_map(Value::as_str).collect(),
        };
        for key in COMBINING {
            let branches = match (key, own.get(key)) {
                ("$ref", Some(reference)) => {
                    referenced(self.whole, reference).map(std::slice::from_ref)
                }
                ("anyOf" | "oneOf" | "allOf", Some(Value::Array(all))) => Some(all.as_slice()),
                _ => None,
            };
            let branches: Vec<_> =
                branches.into_iter().flatten().map(|branch| self.merged(branch)).collect();
            merged.add_branches(key, branches);
        }
        merged
    }
}

impl MergedArguments<'_> {
    /// Adds the arguments of branches; a name that only some of them require is optional.
    fn add_branches(&mut self, key: &str, branches: Vec<Self>) {
        let required: Vec<HashSet<&str>> =
            branches.iter().map(|it| it.required.iter().copied().collect()).collect();
        let is_needed = |name: &&str| {
            matches!(key, "$ref" | "allOf") || required.iter().all(|it| it.contains(name))
        };
        let mut known: HashSet<&str> = self.properties.iter().map(|(name, _)| *name).collect();
        let mut seen: HashSet<&str> = self.required.iter().copied().collect();
        for branch in branches {
            let properties = branch.properties.into_iter().filter(|(name, _)| known.insert(name));
            self.properties.extend(properties);
            let names = branch.required.into_iter().filter(is_needed);
            self.required.extend(names.filter(|name| seen.insert(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares values: the order of the members depends on a feature of `serde_json`.
    fn check(schema: &str, expected: &str) {
        let value = |json: &Json| json.decode::<Value>().unwrap();
        let expected = value(&expected.parse().unwrap());
        assert_eq!(value(&object_schema(&schema.parse().unwrap())), expected, "{schema}");
    }

    #[test]
    fn a_plain_object_stays_unchanged() {
        let schema = r#"{ "z":1e400, "type":"object","properties":{"a":{"anyOf":[]}}}"#;
        assert_eq!(object_schema(&schema.parse().unwrap()).as_str(), schema);
    }

    #[test]
    fn the_arguments_of_all_branches_are_merged() {
        check(
            r#"{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{},"a":1}}]}"#,
            r#"{"type":"object","properties":{"a":{},"b":{}}}"#,
        );
        check(
            r##"{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"properties":{"a":{}},"required":["a"]},{"required":["b"]}]}}}"##,
            r#"{"$defs":{"A":{"allOf":[{"properties":{"a":{}},"required":["a"]},{"required":["b"]}]}},"properties":{"a":{}},"required":["a","b"],"type":"object"}"#,
        );
    }

    #[test]
    fn the_arguments_behind_an_encoded_reference_are_merged() {
        check(
            r##"{"$ref":"#/%24defs/My%20Type","$defs":{"My Type":{"properties":{"a":{}}}}}"##,
            r#"{"$defs":{"My Type":{"properties":{"a":{}}}},"properties":{"a":{}},"type":"object"}"#,
        );
    }

    #[test]
    fn required_names_that_are_no_list_are_dropped() {
        check(
            r#"{"type":"object","properties":{},"required":null}"#,
            r#"{"type":"object","properties":{}}"#,
        );
        check(
            r#"{"type":"object","properties":{},"required":["a",1]}"#,
            r#"{"type":"object","properties":{},"required":["a"]}"#,
        );
    }

    #[test]
    fn a_nullable_or_recursive_root_becomes_an_object() {
        check(
            r#"{"type":["object","null"],"properties":{}}"#,
            r#"{"type":"object","properties":{}}"#,
        );
        check(r##"{"$ref":"#"}"##, r#"{"type":"object","properties":{}}"#);
        check(
            r##"{"properties":{"a":{}},"anyOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
            r#"{"properties":{"a":{}},"type":"object"}"#,
        );
    }
}
