//! Rewrites schemas for providers that accept only a subset of JSON Schema: no `null` beside a
//! type, one type per schema, no references, no required names without a property.
//!
//! Every change narrows the schema or drops an unsupported keyword, so that valid arguments are
//! also valid for the original schema. References are inlined up to a limit; a recursive reference
//! becomes its type alone.

mod parsed_values;
mod reference;

use std::collections::HashSet;
use std::rc::Rc;

use wharf_protocol::Json;

use parsed_values::{Keywords, ParsedValues};
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
    let (references, parsed) = (References::new(schema), ParsedValues::default());
    let mut writer = SchemaWriter { references, parsed, out: String::new() };
    writer.schema(schema, 0);
    writer.out
}

struct SchemaWriter<'a> {
    references: References<'a>,
    parsed: ParsedValues<'a>,
    out: String,
}

impl<'a> SchemaWriter<'a> {
    fn schema(&mut self, text: &'a str, depth: usize) {
        let Some(object) = self.parsed.object(text) else {
            self.out.push_str(text);
            return;
        };
        if depth >= MAX_DEPTH {
            self.out.push_str("{}");
            return;
        }
        let opened = self.references.depth();
        let (mut keywords, is_nullable) = self.unwrapped(object.members().clone());
        if is_nullable {
            drop_nulls(&mut keywords);
        }
        complete(&mut keywords, &mut self.parsed);
        self.out.push('{');
        let mut comma = "";
        for index in 0..keywords.len() {
            let (key, value) = &keywords[index];
            let required = match &**key {
                key if DEFINITIONS.contains(&key) => continue,
                "required" => {
                    let Some(required) = pruned(value, &keywords, &mut self.parsed) else {
                        continue;
                    };
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
            let position = |key: &str| keywords.iter().position(|(own, _)| **own == *key);
            if let Some(at) = position("$ref")
                && let Some(target) = self.references.follow(keywords[at].1, &mut self.parsed)
            {
                replace(&mut keywords, at, target);
                continue;
            }
            let union = ["anyOf", "oneOf"].into_iter().filter_map(position).find_map(|at| {
                let (others, had_null) = without_null(keywords[at].1, &mut self.parsed)?;
                (had_null && !others.is_empty()).then_some((at, others))
            });
            let Some((at, others)) = union else { break };
            is_nullable = true;
            // `value` writes unions of several schemas without their `null`.
            let [only] = others.as_slice() else { break };
            let Some(only) = self.parsed.object(only) else { break };
            replace(&mut keywords, at, only.members().clone());
        }
        let kinds = find(&keywords, "type").and_then(|kind| self.parsed.items(kind));
        is_nullable |= kinds.is_some_and(|all| all.contains(&NULL));
        (keywords, is_nullable)
    }

    fn value(&mut self, key: &str, value: &'a str, is_nullable: bool, depth: usize) {
        let list = self.parsed.items(value);
        if key == "type" {
            let kinds = list.unwrap_or_else(|| Rc::new([value]));
            let kind = kinds.iter().find(|kind| **kind != NULL).or(kinds.first());
            self.out.push_str(kind.copied().unwrap_or("\"object\""));
        } else if NAMED.contains(&key)
            && let Some(named) = self.parsed.object(value)
        {
            self.out.push('{');
            for (index, (name, schema)) in named.members().iter().enumerate() {
                self.out.push_str(if index == 0 { "" } else { "," });
                self.key(name);
                self.schema(schema, depth + 1);
            }
            self.out.push('}');
        } else if LISTS.contains(&key)
            && let Some(list) = list
        {
            let is_union = is_nullable && matches!(key, "anyOf" | "oneOf");
            let others = is_union.then(|| without_null(value, &mut self.parsed)).flatten();
            let others = others.map(|(others, _)| others).filter(|others| !others.is_empty());
            let list = others.unwrap_or_else(|| list.to_vec());
            self.out.push('[');
            for (index, schema) in list.into_iter().enumerate() {
                self.out.push_str(if index == 0 { "" } else { "," });
                self.schema(schema, depth + 1);
            }
            self.out.push(']');
        } else if key == "enum"
            && let Some(list) = list.filter(|_| is_nullable)
        {
            let others: Vec<&str> = list.iter().copied().filter(|it| *it != "null").collect();
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

/// Returns the value of a keyword.
fn find<'a>(keywords: &[(Rc<str>, &'a str)], wanted: &str) -> Option<&'a str> {
    keywords.iter().find(|(key, _)| **key == *wanted).map(|(_, text)| *text)
}

/// Replaces one keyword by the members of another schema; existing keywords win.
fn replace<'a>(keywords: &mut Keywords<'a>, at: usize, mut by: Keywords<'a>) {
    let beside: HashSet<&Rc<str>> = keywords
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != at)
        .map(|(_, (key, _))| key)
        .collect();
    by.retain(|(key, _)| !beside.contains(key));
    keywords.splice(at..=at, by);
}

/// Returns the schemas of a union that are not `null`, and whether one was `null`.
fn without_null<'a>(union: &'a str, parsed: &mut ParsedValues<'a>) -> Option<(Vec<&'a str>, bool)> {
    let all = parsed.items(union)?;
    let others: Vec<&str> = all.iter().copied().filter(|it| !is_null(it, parsed)).collect();
    let had_null = others.len() < all.len();
    Some((others, had_null))
}

fn is_null<'a>(schema: &'a str, parsed: &mut ParsedValues<'a>) -> bool {
    let Some(object) = parsed.object(schema) else { return false };
    object.get("type") == Some(NULL)
        || object.get("const") == Some("null")
        || object.get("enum").and_then(|it| parsed.items(it)).is_some_and(|all| *all == ["null"])
}

/// Drops a default of `null`, which is no longer valid.
fn drop_nulls(keywords: &mut Keywords<'_>) {
    keywords.retain(|(key, value)| **key != *"default" || *value != "null");
}

/// Adds a missing type or missing properties to an object schema.
fn complete<'a>(keywords: &mut Keywords<'a>, parsed: &mut ParsedValues<'a>) {
    let has_properties = find(keywords, "properties").is_some_and(|text| text.starts_with('{'));
    let kind = find(keywords, "type").map(|kind| {
        let first = parsed.items(kind).and_then(|all| all.iter().copied().find(|it| *it != NULL));
        first.unwrap_or(kind)
    });
    match kind {
        None if has_properties => keywords.push(("type".into(), "\"object\"")),
        Some("\"object\"") if !has_properties => {
            keywords.retain(|(key, _)| **key != *"properties");
            keywords.push(("properties".into(), "{}"));
        }
        _ => {}
    }
}

/// Returns the required names that are properties; `None` if none is left.
fn pruned<'a>(
    required: &'a str,
    keywords: &Keywords<'a>,
    parsed: &mut ParsedValues<'a>,
) -> Option<String> {
    let properties = find(keywords, "properties").and_then(|text| parsed.object(text));
    let properties = properties.iter().flat_map(|it| it.members());
    let mut open: HashSet<&str> = properties.map(|(name, _)| &**name).collect();
    let names = parsed.items(required)?;
    let names = names.iter().copied().filter(|raw| {
        let name: Option<String> = serde_json::from_str(raw).ok();
        name.is_some_and(|name| open.remove(name.as_str()))
    });
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("[{}]", names.join(",")))
}

#[cfg(test)]
mod tests;
