//! Generates example arguments of a tool, for a person to copy and change.
//!
//! Only required arguments are filled in, with values that the schema suggests if it has any. The
//! caller must check the result against the schema: patterns and conditions are not handled here.

use serde_json::{Number, Value, json};
use wharf_config::text::is_unsafe;

use super::argument_schemas::{ArgumentSchemas, branches};
use super::signature::required;

/// How deep objects and lists are filled in.
const DEEPEST: usize = 5;

/// The maximum length of a suggested value.
const LONGEST: usize = 60;

/// The maximum number of generated characters or items.
const MAX_REPEATS: u64 = 64;

/// Which arguments an example has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IncludedArguments {
    /// Those that are required.
    Required,
    /// All of them.
    All,
}

/// Generates arguments for a schema, as JSON with the required ones first; `None` if no accepted
/// value can be guessed.
pub(crate) fn example(schema: &Value, included: IncludedArguments) -> Option<String> {
    let schemas = ArgumentSchemas::new(schema);
    object(schemas.root(), schemas, included, 0)
}

fn object(
    schema: &Value,
    schemas: ArgumentSchemas<'_>,
    included: IncludedArguments,
    depth: usize,
) -> Option<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let needed = required(schema);
    let mut members: Vec<(&str, String)> = Vec::new();
    for name in needed {
        let own = properties.and_then(|them| them.get(name)).unwrap_or(&Value::Null);
        add(&mut members, name, own, schemas, depth)?;
    }
    if included == IncludedArguments::All {
        for (name, own) in properties.into_iter().flatten() {
            add(&mut members, name, own, schemas, depth)?;
        }
    }
    let member = |(name, value): &(&str, String)| format!("{}:{value}", json!(name));
    let members: Vec<String> = members.iter().map(member).collect();
    Some(format!("{{{}}}", members.join(",")))
}

/// Adds a member, unless it is there; `None` if no value can be guessed.
fn add<'a>(
    members: &mut Vec<(&'a str, String)>,
    name: &'a str,
    schema: &Value,
    schemas: ArgumentSchemas<'_>,
    depth: usize,
) -> Option<()> {
    if !members.iter().any(|(known, _)| *known == name) {
        members.push((name, sample(name, schema, schemas, depth + 1)?));
    }
    Some(())
}

/// Generates one value, as JSON.
fn sample(
    name: &str,
    schema: &Value,
    schemas: ArgumentSchemas<'_>,
    depth: usize,
) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let schema = schemas.follow(schema);
    if let Some(value) = suggested(schema) {
        return Some(value.to_string());
    }
    let own = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|it| *it != "null")
        }
        _ => None,
    };
    match own {
        Some("string") => Some(json!(text(name, schema)).to_string()),
        Some("integer" | "number") => number(schema).map(|number| number.to_string()),
        Some("boolean") => Some("true".to_owned()),
        Some("null") => Some("null".to_owned()),
        Some("array") => {
            let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).max(1);
            let items = schema.get("items").unwrap_or(&Value::Null);
            let item = sample(name, items, schemas, depth + 1)?;
            let items = vec![item; usize::try_from(count.min(MAX_REPEATS)).ok()?];
            Some(format!("[{}]", items.join(",")))
        }
        Some("object") => object(schema, schemas, IncludedArguments::Required, depth),
        Some(_) => None,
        None => {
            let is_null = |it: &&Value| schemas.types_of(it) == ["null"];
            match branches(schema).find(|it| !is_null(it)) {
                Some(branch) => sample(name, branch, schemas, depth + 1),
                None => Some(json!(text(name, schema)).to_string()),
            }
        }
    }
}

/// Returns the value that a schema suggests, if it is easy to type.
fn suggested(schema: &Value) -> Option<&Value> {
    let first = |key: &str| schema.get(key)?.as_array()?.iter().find(|it| !it.is_null());
    let own = |key: &str| schema.get(key).filter(|it| !it.is_null());
    let found = own("const").or_else(|| first("enum"));
    let found = found.or_else(|| first("examples")).or_else(|| own("default"))?;
    let text = found.to_string();
    let is_plain = text.chars().count() <= LONGEST && !text.chars().any(is_unsafe);
    // Escaped characters are hard to type.
    (is_plain && !text.contains('\\')).then_some(found)
}

fn text(name: &str, schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let names = |part: &str| name.contains(part);
    let text = match format {
        "uri" | "url" | "iri" => "https://example.com",
        "email" => "ann@example.com",
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "uuid" => "3f2b8c1e-0d5a-4c7e-9b61-2a4f6e8d0c13",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.com",
        _ if names("url") || names("uri") => "https://example.com",
        _ if names("path") || names("file") => "notes.txt",
        _ => "text",
    };
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let mut text = text.to_owned();
    while count("minLength").is_some_and(|least| (text.len() as u64) < least.min(MAX_REPEATS)) {
        text.push('x');
    }
    if let Some(most) = count("maxLength").and_then(|most| usize::try_from(most).ok()) {
        // All of it is ASCII.
        text.truncate(most);
    }
    text
}

fn number(schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let mut value = 1.0_f64;
    if let Some(least) = bound("minimum") {
        value = value.max(least.ceil());
    }
    if let Some(above) = bound("exclusiveMinimum") {
        value = value.max(above.floor() + 1.0);
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        value = (value / step).ceil() * step;
    }
    if let Some(most) = bound("maximum") {
        value = value.min(most);
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(json!(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::check::ArgumentCheck;

    fn rendered(schema: &str) -> String {
        let value: Value = serde_json::from_str(schema).unwrap();
        let example = example(&value, IncludedArguments::Required);
        let Some(example) = example else { return "nothing".to_owned() };
        let check = ArgumentCheck::new(&schema.parse().unwrap());
        let verdict = check.check(&example.parse().unwrap());
        assert!(verdict.is_ok(), "{schema}: {example}: {verdict:?}");
        example
    }

    #[test]
    fn an_example_has_what_is_required_and_fits() {
        let schema = r##"{"type":"object","required":["path","count","at","mode","deep","tags","maybe","id","short","long","step","any"],"properties":{
            "path":{"type":"string"},"count":{"type":"integer","minimum":5},"at":{"type":"string","format":"date-time"},
            "mode":{"enum":["fast","slow"]},"deep":{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"no":{}}},
            "tags":{"type":"array","minItems":2,"items":{"type":"string","examples":["bug"]}},
            "maybe":{"anyOf":[{"type":"null"},{"type":"boolean"}]},"id":{"$ref":"#/$defs/id"},
            "short":{"type":"string","maxLength":2},"long":{"type":"string","minLength":6},
            "step":{"type":"number","exclusiveMinimum":2,"multipleOf":0.5},"any":{},"optional":{"type":"string"}},
            "$defs":{"id":{"type":"integer","default":7}}}"##;
        insta::assert_snapshot!(rendered(schema), @r#"{"path":"notes.txt","count":5,"at":"2026-01-31T12:00:00Z","mode":"fast","deep":{"url":"https://example.com"},"tags":["bug","bug"],"maybe":true,"id":7,"short":"te","long":"textxx","step":3,"any":"text"}"#);
        assert_eq!(rendered(r#"{"type":"object"}"#), "{}");
    }

    #[test]
    fn a_text_that_cannot_be_typed_is_no_example() {
        let schema = r#"{"required":["a","b"],"properties":{"a":{"type":"string","default":"x\u001b[2J\ny"},"b":{"type":"string","examples":["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}}}"#;
        assert_eq!(rendered(schema), r#"{"a":"text","b":"text"}"#);
    }

    #[test]
    fn a_schema_without_end_has_no_example() {
        let schema =
            r##"{"type":"object","required":["next"],"properties":{"next":{"$ref":"#"}}}"##;
        assert_eq!(rendered(schema), "nothing");
    }
}
