//! Schema sanitizing: prepares the input schema of a tool for models, with as few changes as
//! possible.
//!
//! The text is edited directly, so key order, unknown keywords and the digits of numbers stay. A
//! schema that does not describe an object makes the tool unusable. `strict` has the rules for
//! model providers that accept only a subset of JSON Schema.

mod strict;

use bytestring::ByteString;
pub(crate) use strict::strict;
use wharf_config::settings::SettingValue;
use wharf_protocol::Json;

/// How input schemas are changed for models (`tools.sanitize`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sanitize {
    /// As little as possible.
    #[default]
    Light,
    /// So that the strictest provider accepts them.
    Strict,
}

/// The word of the setting, for [`wharf_config::Settings::with`].
impl From<Sanitize> for SettingValue {
    fn from(value: Sanitize) -> Self {
        Self::from(match value {
            Sanitize::Light => "light",
            Sanitize::Strict => "strict",
        })
    }
}

/// Tells whether a schema has the usual form, with its type first or last. Such a schema need not
/// be parsed, which saves most of the work for a long list.
fn is_usual(schema: &str) -> bool {
    schema.starts_with(r#"{"type":"object","properties":{"#)
        || schema.starts_with(r#"{"properties":{"#) && schema.ends_with(r#","type":"object"}"#)
}

/// Returns the schema with `properties`, or why the tool is unusable.
pub(super) fn light(schema: Option<Json>) -> Result<Json, &'static str> {
    let Some(schema) = schema else {
        return Err("its inputSchema is not a schema");
    };
    if is_usual(schema.as_str()) {
        return Ok(schema);
    }
    if schema.as_str() == r#"{"type":"object"}"# {
        // Many tools have no arguments, so their schema is shared.
        let bare = ByteString::from_static(r#"{"type":"object","properties":{}}"#);
        return Ok(Json::parse(bare).unwrap_or(schema));
    }
    if schema.get("type").is_some_and(|kind| !allows_objects(&kind)) {
        return Err("its inputSchema does not allow an object");
    }
    match schema.get("properties") {
        Some(properties) if properties.is_object() => Ok(schema),
        // Some languages encode an empty object as an empty list.
        Some(none) if none.is_null() || none.items().is_some_and(|items| items.is_empty()) => {
            Ok(replaced(&schema, &none).unwrap_or(schema))
        }
        Some(_) => Err("the properties in its inputSchema are not an object"),
        None => Ok(appended(&schema).unwrap_or(schema)),
    }
}

/// Tells whether a `type` allows an object.
fn allows_objects(kind: &Json) -> bool {
    let is_object = |kind: &Json| kind.to_text().is_some_and(|kind| kind == "object");
    is_object(kind) || kind.items().is_some_and(|kinds| kinds.iter().any(is_object))
}

/// Appends empty properties.
fn appended(schema: &Json) -> Option<Json> {
    let inner = schema.as_str().strip_suffix('}')?;
    let is_empty = inner.trim_start_matches('{').trim().is_empty();
    let comma = if is_empty { "" } else { "," };
    Json::parse(format!("{inner}{comma}\"properties\":{{}}}}")).ok()
}

/// Replaces `part`, which shares the buffer of the schema, by empty properties.
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
            r#"{"type":"object","properties":{"n":{"maximum":12345678901234567890123,"x-unknown":1e400}}}"#,
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
            check(&schema(text), Err("its inputSchema is not a schema"));
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
            check(&schema(text), Err("the properties in its inputSchema are not an object"));
        }
    }
}
