//! Makes the root of a tool's schema a plain object: `type` is `object`, and there is no `$ref`,
//! `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not` beside it; `required` is a list of names.
//!
//! OpenAI and Anthropic refuse a whole request if the root of one schema is anything else. The
//! arguments of all branches are merged, so no argument is lost; which of them belong together is
//! checked when the tool is called.

use std::collections::HashSet;

use super::take;
use serde_json::{Map, Value};
use wharf_protocol::Json;

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
    let mut merger = Merger { whole: schema, budget: MAX_MERGED };
    let mut root = merger.merged(schema);
    root.insert("type".to_owned(), "object".into());
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), Map::new().into());
    }
    match root.get_mut("required") {
        Some(Value::Array(names)) => names.retain(Value::is_string),
        // Some languages encode an empty list as `null`.
        Some(_) => drop(take(&mut root, "required")),
        None => {}
    }
    root
}

/// Returns the schema that a local reference points to.
pub(super) fn resolve<'a>(whole: &'a Value, reference: &Value) -> Option<&'a Value> {
    whole.pointer(reference.as_str()?.strip_prefix('#')?)
}

struct Merger<'a> {
    whole: &'a Value,
    /// How many schemas may still be merged: references can be recursive.
    budget: usize,
}

impl Merger<'_> {
    /// Returns the members of a schema, with the arguments of its branches.
    fn merged(&mut self, schema: &Value) -> Map<String, Value> {
        let Some(own) = schema.as_object().filter(|_| self.budget > 0) else { return Map::new() };
        self.budget -= 1;
        let mut root = own.clone();
        let mut branches: Vec<(&str, Vec<Value>)> = Vec::new();
        for key in COMBINING {
            match (key, take(&mut root, key)) {
                ("$ref", Some(reference)) => {
                    branches
                        .extend(resolve(self.whole, &reference).map(|it| (key, vec![it.clone()])));
                }
                ("anyOf" | "oneOf" | "allOf", Some(Value::Array(all))) => branches.push((key, all)),
                _ => {}
            }
        }
        for (key, all) in branches {
            let all: Vec<_> = all.iter().map(|branch| self.merged(branch)).collect();
            add_branches(&mut root, key, &all);
        }
        root
    }
}

/// Adds the properties of branches; a name that only some of them require is optional.
fn add_branches(root: &mut Map<String, Value>, key: &str, branches: &[Map<String, Value>]) {
    let properties = branches.iter().filter_map(|it| it.get("properties")?.as_object()).flatten();
    for (name, schema) in properties {
        let own = root.entry("properties").or_insert_with(|| Map::new().into());
        if let Some(own) = own.as_object_mut() {
            own.entry(name).or_insert_with(|| schema.clone());
        }
    }
    let per_branch: Vec<HashSet<&str>> = branches.iter().map(required).collect();
    let is_needed = |name: &&str| {
        matches!(key, "$ref" | "allOf") || per_branch.iter().all(|it| it.contains(name))
    };
    let mut seen = required(root);
    let candidates = branches.iter().flat_map(required_in_order).filter(is_needed);
    let added: Vec<Value> = candidates.filter(|name| seen.insert(name)).map(Value::from).collect();
    if added.is_empty() {
        return;
    }
    match root.get_mut("required") {
        Some(Value::Array(own)) => own.extend(added),
        _ => drop(root.insert("required".to_owned(), added.into())),
    }
}

fn required(schema: &Map<String, Value>) -> HashSet<&str> {
    required_in_order(schema).collect()
}

fn required_in_order(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
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
