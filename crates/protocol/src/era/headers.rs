//! Tool arguments repeated in HTTP headers, so that proxies can route by them
//! (2026-07-28).
//!
//! A tool's schema annotates a property with `x-mcp-header`; its value is then repeated in a header
//! `Mcp-Param-…`. Values that are not plain visible ASCII are encoded as Base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::{Json, Members};

const ANNOTATION: &str = "x-mcp-header";
const SENTINEL: (&str, &str) = ("=?base64?", "?=");
/// Annotations in properties nested deeper than this are an error.
const MAX_DEPTH: usize = 32;

/// A parameter of a tool that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderParameter {
    header: HeaderName,
    path: Vec<String>,
}

/// Why an `x-mcp-header` annotation in a schema cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnnotationError {
    /// The name cannot be part of a header.
    #[error("the value of `x-mcp-header` is not a valid header name")]
    InvalidName,
    /// Two properties use one header.
    #[error("two properties have the same `x-mcp-header`")]
    Duplicate,
    /// Only strings, integers and booleans can be sent in a header.
    #[error("`x-mcp-header` is on a property that is not a string, integer or boolean")]
    UnsupportedType,
    /// The property cannot be found by name alone.
    #[error("`x-mcp-header` is on a schema that is not reached by property names alone")]
    NotAProperty,
}

impl HeaderParameter {
    /// Reads the `x-mcp-header` annotations in the schema of a tool's arguments.
    pub(crate) fn read(schema: &Json) -> Result<Vec<Self>, AnnotationError> {
        if memchr::memmem::find(schema.as_str().as_bytes(), ANNOTATION.as_bytes()).is_none() {
            return Ok(Vec::new());
        }
        // A schema that is nested too deeply for serde cannot be used.
        let schema: Value = schema.decode().map_err(|_| AnnotationError::NotAProperty)?;
        let mut found = Vec::new();
        collect_parameters(&schema, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    /// Returns the header for a call; `None` if the argument is missing or `null`.
    pub(crate) fn header(&self, arguments: &Json) -> Option<(HeaderName, HeaderValue)> {
        let (last, parents) = self.path.split_last()?;
        let mut object = arguments.as_str();
        for name in parents {
            object = Members::of(object)?.get(name)?.get();
        }
        let members = Members::of(object)?;
        let raw = members.get(last)?.get();
        let text = match raw.as_bytes().first()? {
            b'"' => members.text(last)?.into_owned(),
            b'{' | b'[' | b'n' => return None,
            _ => raw.to_owned(),
        };
        Some((self.header.clone(), header_value(&text)?))
    }
}

fn collect_parameters(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<HeaderParameter>,
) -> Result<(), AnnotationError> {
    let Some(object) = schema.as_object() else { return Ok(()) };
    if let Some(annotation) = object.get(ANNOTATION) {
        let parameter = parameter(annotation, object.get("type"), path)?;
        if found.iter().any(|other| other.header == parameter.header) {
            return Err(AnnotationError::Duplicate);
        }
        found.push(parameter);
    }
    for (key, value) in object {
        if let ("properties", Some(properties)) = (key.as_str(), value.as_object())
            && path.len() < MAX_DEPTH
        {
            for (name, property) in properties {
                path.push(name.clone());
                collect_parameters(property, path, found)?;
                path.pop();
            }
        } else if key != ANNOTATION && has_annotation(value) {
            return Err(AnnotationError::NotAProperty);
        }
    }
    Ok(())
}

fn parameter(
    annotation: &Value,
    kind: Option<&Value>,
    path: &[String],
) -> Result<HeaderParameter, AnnotationError> {
    let name =
        annotation.as_str().filter(|name| !name.is_empty()).ok_or(AnnotationError::InvalidName)?;
    let header = HeaderName::try_from(format!("mcp-param-{name}"))
        .map_err(|_| AnnotationError::InvalidName)?;
    if !matches!(kind.and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(AnnotationError::UnsupportedType);
    }
    if path.is_empty() {
        return Err(AnnotationError::NotAProperty);
    }
    Ok(HeaderParameter { header, path: path.to_vec() })
}

/// Tells whether a schema below `value` has the annotation; defaults and examples are skipped.
fn has_annotation(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.contains_key(ANNOTATION)
                || object
                    .iter()
                    .filter(|(key, _)| {
                        !matches!(key.as_str(), "default" | "const" | "enum" | "examples")
                    })
                    .any(|(_, value)| has_annotation(value))
        }
        Value::Array(items) => items.iter().any(has_annotation),
        _ => false,
    }
}

/// Returns the parameter that the header `Mcp-Name` repeats.
#[cfg(any(feature = "http", feature = "serve-http"))]
pub(crate) fn naming_parameter(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Writes a text as a header value: plain where possible, otherwise as Base64 between sentinels.
pub(crate) fn header_value(text: &str) -> Option<HeaderValue> {
    let looks_encoded = text.starts_with(SENTINEL.0) && text.ends_with(SENTINEL.1);
    let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !looks_encoded;
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    let (open, close) = SENTINEL;
    HeaderValue::try_from(format!("{open}{}{close}", STANDARD.encode(text))).ok()
}

/// Reads a header written by [`header_value`]; `None` if it is marked as Base64 but is not valid.
#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) fn header_text(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?.trim_matches([' ', '\t']);
    let inner = text.strip_prefix(SENTINEL.0).and_then(|rest| rest.strip_suffix(SENTINEL.1));
    match inner {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(schema: &str) -> Result<Vec<HeaderParameter>, AnnotationError> {
        HeaderParameter::read(&schema.parse().unwrap())
    }

    fn property(annotation: &str, kind: &str) -> String {
        format!(r#"{{"properties":{{"a":{{"type":{kind},"x-mcp-header":{annotation}}}}}}}"#)
    }

    #[test]
    fn annotations_are_found_at_any_depth_of_plain_properties() {
        let schema =
            r#"{"properties":{"a":{"properties":{"b":{"type":"string","x-mcp-header":"Deep"}}}}}"#;
        let found = read(schema).unwrap();
        let arguments: Json = r#"{"a":{"b":"value"}}"#.parse().unwrap();
        let (name, value) = found[0].header(&arguments).unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("mcp-param-deep", "value"));
    }

    #[test]
    fn each_invalid_annotation_has_its_own_error() {
        for annotation in ["\"\"", "\"a b\"", "\"a:b\"", "\"R\u{e9}gion\"", "\"a\\tb\"", "5"] {
            assert_eq!(
                read(&property(annotation, "\"string\"")),
                Err(AnnotationError::InvalidName),
                "{annotation}"
            );
        }
        for kind in ["\"object\"", "\"array\"", "\"null\"", "\"number\"", "null"] {
            assert_eq!(
                read(&property("\"A\"", kind)),
                Err(AnnotationError::UnsupportedType),
                "{kind}"
            );
        }
        let twice = r#"{"properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}"#;
        assert_eq!(read(twice), Err(AnnotationError::Duplicate));
        let items =
            r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"X"}}}}"#;
        assert_eq!(read(items), Err(AnnotationError::NotAProperty));
    }

    #[test]
    fn a_schema_without_annotations_is_not_parsed() {
        assert_eq!(read(&format!("{}{}", "[".repeat(200), "]".repeat(200))), Ok(Vec::new()));
    }

    #[test]
    fn values_of_every_kind_become_headers() {
        let check = |argument: &str, expected: Option<&str>| {
            let parameter = HeaderParameter {
                header: HeaderName::from_static("mcp-param-a"),
                path: vec!["a".into()],
            };
            let arguments: Json = argument.parse().unwrap();
            let value = parameter.header(&arguments).map(|(_, value)| value);
            assert_eq!(value.as_ref().map(|value| value.to_str().unwrap()), expected, "{argument}");
        };
        check(r#"{"a":"us-west1"}"#, Some("us-west1"));
        check(r#"{"a":"us west 1"}"#, Some("us west 1"));
        check(r#"{"a":""}"#, Some(""));
        check(r#"{"a":42}"#, Some("42"));
        check(r#"{"a":false}"#, Some("false"));
        check(r#"{"a":null}"#, None);
        check("{}", None);
        check(r#"{"a":[1]}"#, None);
        check(r#"{"a":" padded "}"#, Some("=?base64?IHBhZGRlZCA=?="));
        check(r#"{"a":"a\nb"}"#, Some("=?base64?YQpi?="));
        check(r#"{"a":"=?base64?YQ==?="}"#, Some("=?base64?PT9iYXNlNjQ/WVE9PT89?="));
    }

    proptest! {
        #[test]
        fn any_text_is_restored_from_its_header(text in any::<String>()) {
            let value = header_value(&text).unwrap();
            prop_assert_eq!(header_text(&value), Some(text));
        }
    }
}
