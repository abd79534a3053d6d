//! The schemas of single arguments in the schema of a tool: follows references, collects types.
//!
//! Schemas come from servers, so every traversal has a limit. References out of the schema are not
//! followed.

use serde_json::{Map, Value};
use wharf_protocol::{Json, Members};

use super::local_reference::{json_pointer, pointer_keys, referenced};

/// How many references are followed for one argument.
const MAX_HOPS: usize = 16;

/// How many alternatives of one schema are visited.
const MAX_BRANCHES: usize = 32;

/// The schema of a tool, to look up single arguments.
#[derive(Clone, Copy)]
pub(super) struct ArgumentSchemas<'a> {
    schema: &'a Value,
}

impl<'a> ArgumentSchemas<'a> {
    /// Wraps a schema.
    pub(super) fn new(schema: &'a Value) -> Self {
        Self { schema }
    }

    /// Returns the schema of all arguments, with references followed.
    pub(super) fn root(self) -> &'a Value {
        self.follow(self.schema)
    }

    /// Returns the arguments by name.
    pub(super) fn properties(self) -> Option<&'a Map<String, Value>> {
        self.root().get("properties").and_then(Value::as_object)
    }

    /// Follows references inside the schema.
    pub(super) fn follow(self, schema: &'a Value) -> &'a Value {
        let mut at = schema;
        for _ in 0..MAX_HOPS {
            match at.get("$ref").and_then(|reference| referenced(self.schema, reference)) {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Returns the types that a schema allows; empty if it does not restrict them.
    pub(super) fn types_of(self, schema: &'a Value) -> Vec<&'a str> {
        self.types_within(schema, MAX_HOPS)
    }

    fn types_within(self, schema: &'a Value, hops: usize) -> Vec<&'a str> {
        let schema = self.follow(schema);
        match schema.get("type") {
            Some(Value::String(one)) => return vec![one],
            Some(Value::Array(many)) => return many.iter().filter_map(Value::as_str).collect(),
            _ => {}
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().map(kind_of).collect();
        }
        if let Some(value) = schema.get("const") {
            return vec![kind_of(value)];
        }
        let Some(hops) = hops.checked_sub(4) else { return Vec::new() };
        branches(schema).flat_map(|it| self.types_within(it, hops)).collect()
    }
}

/// Returns the names of the arguments in the order of the schema's text, which a decoded schema
/// does not have.
pub(super) fn names_in_order(schema: &Json) -> Vec<String> {
    let mut at = schema.clone();
    for _ in 0..MAX_HOPS {
        let reference = at.get("$ref").and_then(|it| it.to_text());
        let next = reference.as_deref().and_then(json_pointer).and_then(|pointer| {
            pointer_keys(&pointer).try_fold(schema.clone(), |at, key| at.get(&key))
        });
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    let properties = at.get("properties");
    let members = properties.as_ref().and_then(Json::members);
    members.iter().flat_map(Members::iter).map(|(name, _)| name.to_owned()).collect()
}

/// Returns the alternatives and parts of a schema.
pub(super) fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"].into_iter();
    let lists = lists.filter_map(|key| schema.get(key)?.as_array());
    lists.flatten().take(MAX_BRANCHES)
}

/// Returns the JSON Schema type of a value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
