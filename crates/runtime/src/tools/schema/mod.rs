//! The schema of a tool's arguments: kept as its server wrote it, as far as models accept that.
//!
//! Work is done on the text, so key order, unknown keywords and the digits of numbers stay. What is
//! no schema for an object makes a tool unusable; `strict` has the rules for choosy providers.

mod strict;

use bytestring::ByteString;
pub(super) use strict::strict;
use wharf_protocol::Json;

/// How schemas are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sanitize {
    /// As little as possible.
    #[default]
    Light,
    /// So that the choosiest provider takes them.
    Strict,
}

/// Tells whether a schema is written as most libraries do it: with its type first or last. Such a
/// schema needs no closer look, which is most of the work with a long list.
fn is_usual(schema: &str) -> bool {
    schema.starts_with(r#"{"type":"object","properties":{"#)
        || schema.starts_with(r#"{"properties":{"#) && schema.ends_with(r#","type":"object"}"#)
}

/// Returns the schema with `properties`, or why it is not usable.
pub(super) fn light(schema: Option<Json>) -> Result<Json, &'static str> {
    let Some(schema) = schema else {
        return Err("its inputSchema is no schema");
    };
    if is_usual(schema.as_str()) {
        return Ok(schema);
    }
    if schema.as_str() == r#"{"type":"object"}"# {
        // So many tools take nothing that it is worth sharing what they get.
        let bare = ByteString::from_static(r#"{"type":"object","properties":{}}"#);
        return Ok(Json::parse(bare).unwrap_or(schema));
    }
    if schema.get("type").is_some_and(|kind| !allows_objects(&kind)) {
        return Err("its inputSchema does not allow an object");
    }
    match schema.get("properties") {
        Some(properties) if properties.is_object() => Ok(schema),
        // An empty list is how some languages write an empty object.
        Some(none) if none.is_null() || none.items().is_some_and(|items| items.is_empty()) => {
            Ok(replaced(&schema, &none).unwrap_or(schema))
        }
        Some(_) => Err("the properties in its inputSchema are no object"),
        None => Ok(appended(&schema).unwrap_or(schema)),
    }
}

/// Tells whether a `type` leaves room for an object.
fn allows_objects(kind: &Json) -> bool {
    let is_object = |kind: &Json| kind.to_text().is_some_and(|kind| kind == "object");
    is_object(kind) || kind.items().is_some_and(|kinds| kinds.iter().any(is_object))
}

/// Adds empty properties at the end.
fn appended(schema: &Json) -> Option<Json> {
    let inner = schema.as_str().strip_suffix('}')?;
    let is_empty = inner.trim_start_matches('{').trim().is_empty();
    let comma = if is_empty { "" } else { "," };
    Json::parse(format!("{inner}{comma}\"properties\":{{}}}}")).ok()
}

/// Puts empty properties where `part` stands, which shares the buffer of the schema.
fn replaced(schema: &Json, part: &Json) -> Option<Json> {
    let text = schema.as_str();
    let start = part.as_str().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let (before, after) = (text.get(..start)?, text.get(start + part.as_str().len()..)?);
    Json::parse(format!("{before}{{}}{after}")).ok()
}

#[cfg(test)]
mod tests {
    use wharf_protocol::view::{ListEntry, ToolDefinition};

    use super::*;

    fn check(schema: &str, expected: Result<&str, &str>) {
        let tool =
            ToolDefinition::read(format!(r#"{{"name":"t"{schema}}}"#).parse().unwrap()).unwrap();
        let found = light(tool.input_schema());
        assert_eq!(found.as_ref().map(Json::as_str).map_err(|why| *why), expected, "{schema}");
    }

    fn check_schema(schema: &str, expected: &str) {
        check(&format!(r#","inputSchema":{schema}"#), Ok(expected));
    }

    #[test]
    fn a_complete_schema_stays_unchanged() {
        for schema in [
            r#"{"type":"object","properties":{"n":{"maximum":12345678901234567890123,"x-odd":1e400}}}"#,
            r##"{ "z": 1.0, "properties" : { }, "a":{"$ref":"#/z"}, "type" : "object" }"##,
            r#"{"type":["object","null"],"properties":{},"required":["gone"]}"#,
            r#"{"properties":{}}"#,
            r#"{"properties":{"type":{"type":"string"}},"type":"object"}"#,
        ] {
            check_schema(schema, schema);
        }
    }

    #[test]
    fn missing_properties_are_added_and_nothing_else() {
        let bare = r#"{"type":"object","properties":{}}"#;
        check("", Ok(bare));
        check(r#","inputSchema":null"#, Ok(bare));
        check(r#","inputSchema":true"#, Ok(bare));
        check_schema(r#"{"type":"object"}"#, bare);
        check_schema("{}", r#"{"properties":{}}"#);
        check_schema("{ }", r#"{ "properties":{}}"#);
        check_schema(
            r#"{"z":{"properties":1},"type":"object","a":1e999 }"#,
            r#"{"z":{"properties":1},"type":"object","a":1e999 ,"properties":{}}"#,
        );
        check_schema(
            r#"{"properties": null,"type":"object"}"#,
            r#"{"properties": {},"type":"object"}"#,
        );
        check_schema(
            r#"{"type":"object","properties":[ ],"b":2}"#,
            r#"{"type":"object","properties":{},"b":2}"#,
        );
    }

    #[test]
    fn a_schema_that_rejects_objects_is_unusable() {
        let schema = |schema: &str| format!(r#","inputSchema":{schema}"#);
        for text in ["7", "[]", "false", "\"object\""] {
            check(&schema(text), Err("its inputSchema is no schema"));
        }
        for text in [
            r#"{"properties":{},"type":"string","a":{"b":1,"type":"object"}}"#,
            r#"{"type":"string"}"#,
            r#"{"type":null}"#,
            r#"{"type":["array"]}"#,
        ] {
            check(&schema(text), Err("its inputSchema does not allow an object"));
        }
        for text in [r#"{"properties":[1]}"#, r#"{"type":"object","properties":"x"}"#] {
            check(&schema(text), Err("the properties in its inputSchema are no object"));
        }
    }
}
