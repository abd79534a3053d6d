//! Rewrites schemas for providers that accept only a subset of JSON Schema: no `null` beside a
//! type, one type per schema, no references, no required names without a property.
//!
//! Every change narrows the schema or drops an unsupported keyword, so that valid arguments are
//! also valid for the original schema. References are inlined up to a limit; a recursive reference
//! becomes its type alone.

mod reference;

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use wharf_protocol::{Json, Members};

use reference::References;

/// The maximum nesting of schemas; a deeper schema becomes `{}`.
const MAX_DEPTH: usize = 64;

/// The maximum number of references and unions that are unwrapped in a row.
const MAX_STEPS: usize = 32;

/// The keywords whose value is a schema, a list of schemas, or schemas by name.
const SINGLE: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas"];

/// The keywords for definitions, which are dropped because references are inlined.
const DEFINITIONS: &[&str] = &["$defs", "definitions"];

/// Returns the strict schema.
pub(crate) fn strict(schema: &Json) -> Json {
    // The result is always JSON; the fallback avoids a panic.
    Json::parse(written(schema.as_str())).unwrap_or_else(|_| schema.clone())
}

fn written(schema: &str) -> String {
    let mut writer = SchemaWriter { references: References::new(schema), out: String::new() };
    writer.schema(schema, 0);
    writer.out
}

/// The members of a schema with unique keys.
type Keywords<'a> = Vec<(String, &'a str)>;

struct SchemaWriter<'a> {
    references: References<'a>,
    out: String,
}

impl<'a> SchemaWriter<'a> {
    fn schema(&mut self, text: &'a str, depth: usize) {
        let Some(keywords) = keywords(text) else {
            self.out.push_str(text);
            return;
        };
        if depth >= MAX_DEPTH {
            self.out.push_str("{}");
            return;
        }
        let opened = self.references.depth();
        let (mut keywords, is_nullable) = self.unwrapped(keywords);
        if is_nullable {
            drop_nulls(&mut keywords);
        }
        complete(&mut keywords);
        self.out.push('{');
        let mut comma = "";
        for index in 0..keywords.len() {
            let (key, value) = &keywords[index];
            let required = match key.as_str() {
                key if DEFINITIONS.contains(&key) => continue,
                "required" => {
                    let Some(required) = pruned(value, &keywords) else { continue };
                    Some(required)
                }
                _ => None,
            };
            self.out.push_str(comma);
            comma = ",";
            self.key(key);
            match required {
                Some(required) => self.out.push_str(&required),
                None => self.value(key, value, is_nullable, depth),
            }
        }
        self.out.push('}');
        self.references.close_to(opened);
    }

    /// Inlines references and unwraps unions with `null` until none is left; tells whether there
    /// was a `null`.
    fn unwrapped(&mut self, mut keywords: Keywords<'a>) -> (Keywords<'a>, bool) {
        let mut is_nullable = false;
        for _ in 0..MAX_STEPS {
            let position = |key: &str| keywords.iter().position(|(own, _)| own == key);
            if let Some(at) = position("$ref")
                && let Some(target) = self.references.follow(keywords[at].1)
            {
                replace(&mut keywords, at, target);
                continue;
            }
            let union = ["anyOf", "oneOf"].into_iter().filter_map(position).find_map(|at| {
                let (others, had_null) = without_null(keywords[at].1)?;
                (had_null && !others.is_empty()).then_some((at, others))
            });
            let Some((at, others)) = union else { break };
            is_nullable = true;
            // `value` writes unions of several schemas without their `null`.
            let [only] = others.as_slice() else { break };
            let Some(only) = self::keywords(only) else { break };
            replace(&mut keywords, at, only);
        }
        let kind = keywords.iter().find(|(key, _)| key == "type").map(|(_, kind)| *kind);
        is_nullable |= kind.is_some_and(|kind| items(kind).is_some_and(|all| all.contains(&NULL)));
        (keywords, is_nullable)
    }

    fn value(&mut self, key: &str, value: &'a str, is_nullable: bool, depth: usize) {
        let list = items(value);
        if key == "type" {
            let kinds = list.unwrap_or_else(|| vec![value]);
            let kind = kinds.iter().find(|kind| **kind != NULL).or(kinds.first());
            self.out.push_str(kind.copied().unwrap_or("\"object\""));
        } else if NAMED.contains(&key)
            && let Some(named) = keywords(value)
        {
            self.out.push('{');
            for (index, (name, schema)) in named.into_iter().enumerate() {
                self.out.push_str(if index == 0 { "" } else { "," });
                self.key(&name);
                self.schema(schema, depth + 1);
            }
            self.out.push('}');
        } else if LISTS.contains(&key)
            && let Some(list) = list
        {
            let is_union = is_nullable && matches!(key, "anyOf" | "oneOf");
            let others = without_null(value).map(|(others, _)| others).filter(|_| is_union);
            let list = others.filter(|others| !others.is_empty()).unwrap_or(list);
            self.out.push('[');
            for (index, schema) in list.into_iter().enumerate() {
                self.out.push_str(if index == 0 { "" } else { "," });
                self.schema(schema, depth + 1);
            }
            self.out.push(']');
        } else if key == "enum"
            && let Some(list) = list.filter(|_| is_nullable)
        {
            let others: Vec<&str> = list.into_iter().filter(|value| *value != "null").collect();
            self.out.push('[');
            self.out.push_str(&others.join(","));
            self.out.push(']');
        } else if SINGLE.contains(&key) {
            self.schema(value, depth + 1);
        } else {
            self.out.push_str(value);
        }
    }

    fn key(&mut self, key: &str) {
        // A string can always be encoded.
        self.out.push_str(&serde_json::to_string(key).unwrap_or_default());
        self.out.push(':');
    }
}

/// The type `null` as JSON.
const NULL: &str = "\"null\"";

/// Returns the members of an object; of equal keys the last counts.
fn keywords(text: &str) -> Option<Keywords<'_>> {
    let members = Members::of(text)?;
    let mut places = HashMap::new();
    let mut keywords: Keywords<'_> = Vec::new();
    for (key, value) in members.iter() {
        let place = *places.entry(key).or_insert(keywords.len());
        match keywords.get_mut(place) {
            Some((_, own)) => *own = value.get(),
            None => keywords.push((key.to_owned(), value.get())),
        }
    }
    Some(keywords)
}

fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// Replaces one keyword by the members of another schema; existing keywords win.
fn replace<'a>(keywords: &mut Keywords<'a>, at: usize, mut by: Keywords<'a>) {
    let beside: HashSet<&String> = keywords
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != at)
        .map(|(_, (key, _))| key)
        .collect();
    by.retain(|(key, _)| !beside.contains(key));
    keywords.splice(at..=at, by);
}

/// Returns the schemas of a union that are not `null`, and whether one was `null`.
fn without_null(union: &str) -> Option<(Vec<&str>, bool)> {
    let all = items(union)?;
    let count = all.len();
    let others: Vec<&str> = all.into_iter().filter(|schema| !is_null(schema)).collect();
    let had_null = others.len() < count;
    Some((others, had_null))
}

fn is_null(schema: &str) -> bool {
    let Some(keywords) = keywords(schema) else { return false };
    keywords.iter().any(|(key, value)| match key.as_str() {
        "type" => *value == NULL,
        "const" => *value == "null",
        "enum" => items(value).is_some_and(|all| all == ["null"]),
        _ => false,
    })
}

/// Drops a default of `null`, which is no longer valid.
fn drop_nulls(keywords: &mut Keywords<'_>) {
    keywords.retain(|(key, value)| key != "default" || *value != "null");
}

/// Adds a missing type or missing properties to an object schema.
fn complete(keywords: &mut Keywords<'_>) {
    let find = |wanted: &str| keywords.iter().find(|(key, _)| key == wanted).map(|(_, text)| *text);
    let has_properties = find("properties").is_some_and(|text| text.starts_with('{'));
    let first = |kind: &str| items(kind)?.into_iter().find(|kind| *kind != NULL).map(str::to_owned);
    let kind = find("type").map(|kind| first(kind).unwrap_or_else(|| kind.to_owned()));
    match kind.as_deref() {
        None if has_properties => keywords.push(("type".to_owned(), "\"object\"")),
        Some("\"object\"") if !has_properties => {
            keywords.retain(|(key, _)| key != "properties");
            keywords.push(("properties".to_owned(), "{}"));
        }
        _ => {}
    }
}

/// Returns the required names that are properties; `None` if none is left.
fn pruned(required: &str, keywords: &Keywords<'_>) -> Option<String> {
    let properties = keywords.iter().find(|(key, _)| key == "properties");
    let properties = properties.and_then(|(_, text)| self::keywords(text)).unwrap_or_default();
    let mut open: HashSet<String> = properties.into_iter().map(|(name, _)| name).collect();
    let names = items(required)?.into_iter().filter(|raw| {
        let name: Option<String> = serde_json::from_str(raw).ok();
        name.is_some_and(|name| open.remove(&name))
    });
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("[{}]", names.join(",")))
}

#[cfg(test)]
mod tests;
