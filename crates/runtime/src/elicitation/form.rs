//! Reads the `requestedSchema` of a form elicitation as a list of fields, within limits.

use serde::{Serialize, Serializer as _};
use serde_json::{Map, Value};
use wharf_protocol::view::send::Object;
use wharf_protocol::{Json, Members};

use super::field::FormField;

/// The maximum number of fields.
const MAX_FIELDS: usize = 50;

/// The maximum size of a schema, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A form that a server asks the person to fill in.
///
/// ```
/// use wharf::elicitation::Form;
///
/// let schema = r#"{"type":"object","required":["berth"],"properties":{
///     "berth":{"type":"string","enum":["north","south"]},"days":{"type":"integer","minimum":1}}}"#;
/// let form = Form::read(&schema.parse()?)?;
/// let answers: Vec<_> = form.fields.iter().zip(["2", "3"])
///     .map(|(field, typed)| Ok((field.name.clone(), field.parse(typed)?)))
///     .collect::<Result<_, wharf::elicitation::InvalidInput>>()?;
/// let content = Form::content(&answers);
/// assert_eq!(content.as_json().as_str(), r#"{"berth":"south","days":3}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The fields in order; none if the server only asks for a yes or no.
    pub fields: Vec<FormField>,
    /// The names of optional fields whose type is not supported.
    pub omitted: Vec<String>,
}

/// Why a form is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormError {
    /// There are too many fields.
    #[error("it has {count} fields; at most {MAX_FIELDS} are supported")]
    TooManyFields {
        /// The number of fields.
        count: usize,
    },
    /// The schema is too large.
    #[error("its schema has {bytes} bytes; at most {MAX_BYTES} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The schema does not describe an object with properties.
    #[error("its schema does not describe a form")]
    NotAForm,
    /// The type of a required field is not supported.
    #[error("it requires \"{name}\", a field of an unsupported type")]
    UnsupportedField {
        /// The name of the field: untrusted text.
        name: String,
    },
}

impl Form {
    /// Reads the schema of a form.
    pub fn read(schema: &Json) -> Result<Self, FormError> {
        let bytes = schema.as_str().len();
        if bytes > MAX_BYTES {
            return Err(FormError::TooLarge { bytes });
        }
        let decoded: Value = schema.decode().map_err(|_| FormError::NotAForm)?;
        let decoded = decoded.as_object().ok_or(FormError::NotAForm)?;
        let properties = match decoded.get("properties") {
            None => return Ok(Self { fields: Vec::new(), omitted: Vec::new() }),
            Some(properties) => properties.as_object().ok_or(FormError::NotAForm)?,
        };
        if properties.len() > MAX_FIELDS {
            return Err(FormError::TooManyFields { count: properties.len() });
        }
        let required = decoded.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let mut form = Self { fields: Vec::new(), omitted: Vec::new() };
        for (name, described) in in_order(properties, schema) {
            match FormField::read(name, described, is_required(name)) {
                Some(field) => form.fields.push(field),
                None if is_required(name) => {
                    return Err(FormError::UnsupportedField { name: name.clone() });
                }
                None => form.omitted.push(name.clone()),
            }
        }
        Ok(form)
    }

    /// Returns the answers as one object.
    pub fn content(answers: &[(String, Json)]) -> Object {
        let mut text = Vec::new();
        let members = answers.iter().map(|(name, value)| (name, value));
        let written = serde_json::Serializer::new(&mut text).collect_map(members);
        // The serialized map is a JSON object, so none of these can fail.
        let json = written.ok().and_then(|()| Json::parse(String::from_utf8(text).ok()?).ok());
        json.and_then(|json| json.try_into().ok()).unwrap_or_default()
    }
}

/// Returns the properties in the order of the schema's text, in which the person is asked.
fn in_order<'a>(properties: &'a Map<String, Value>, schema: &Json) -> Vec<(&'a String, &'a Value)> {
    let written = schema.get("properties");
    let written = written.as_ref().and_then(Json::members);
    let names: Vec<&str> = written.iter().flat_map(Members::iter).map(|(name, _)| name).collect();
    let mut properties: Vec<_> = properties.iter().collect();
    properties.sort_by_cached_key(|(name, _)| names.iter().position(|known| known == name));
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(schema: &str) -> Result<Form, FormError> {
        Form::read(&schema.parse().unwrap())
    }

    fn check(schema: &str, expected: &str) {
        let rendered = match read(schema) {
            Ok(form) => {
                let fields = form.fields.iter().map(|field| {
                    let mark = if field.is_required { "!" } else { "" };
                    format!("{}{mark}: {}", field.name, field.expected())
                });
                let omitted = form.omitted.iter().map(|name| format!("{name} left out"));
                fields.chain(omitted).collect::<Vec<_>>().join("; ")
            }
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(rendered, expected, "{schema}");
    }

    #[test]
    fn every_kind_of_field_is_read() {
        let fields = [
            (r#"{"type":"string"}"#, "a: text"),
            (r#"{"type":"string","minLength":2}"#, "a: text of at least 2 characters"),
            (r#"{"type":"string","maxLength":5}"#, "a: text of at most 5 characters"),
            (r#"{"type":"string","minLength":2,"maxLength":5}"#, "a: text of 2 to 5 characters"),
            (r#"{"type":"string","format":"email"}"#, "a: an email address"),
            (r#"{"type":"string","format":"uri"}"#, "a: an address such as https://example.org"),
            (r#"{"type":"string","format":"date"}"#, "a: a date such as 2026-07-28"),
            (
                r#"{"type":"string","format":"date-time"}"#,
                "a: a date and time such as 2026-07-28T12:00:00Z",
            ),
            (r#"{"type":"string","format":"colour"}"#, "a: text"),
            (r#"{"type":"integer"}"#, "a: a whole number"),
            (r#"{"type":"integer","minimum":1,"maximum":9}"#, "a: a whole number from 1 to 9"),
            (r#"{"type":"number","minimum":0.5}"#, "a: a number of at least 0.5"),
            (r#"{"type":"number","maximum":2}"#, "a: a number of at most 2"),
            (r#"{"type":"boolean"}"#, "a: yes or no"),
            (r#"{"type":"string","enum":["x","y"],"enumNames":["X"]}"#, "a: one of 2"),
            (
                r#"{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y"}]}"#,
                "a: one of 2",
            ),
            (r#"{"type":"array","items":{"type":"string","enum":["x","y"]}}"#, "a: any of 2"),
            (
                r#"{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"x"}]}}"#,
                "a: 1 to 2 of 1",
            ),
        ];
        for (field, expected) in fields {
            check(&format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#), expected);
        }
    }

    #[test]
    fn unsupported_fields_are_omitted_or_rejected() {
        check("{}", "");
        check(r#"{"properties":{}}"#, "");
        check(r#"{"properties":{"a":{"type":"string"}},"required":["a","b"]}"#, "a!: text");
        check(
            r#"{"properties":{"a":{"type":"object"},"b":7,"c":{}}}"#,
            "a left out; b left out; c left out",
        );
        check(r#"{"properties":{"a":{"type":"string","enum":[]}}}"#, "a left out");
        check(r#"{"properties":{"a":{"type":"array","items":{"type":"string"}}}}"#, "a left out");
        check(
            r#"{"properties":{"a":{"type":"object"}},"required":["a"]}"#,
            "error: it requires \"a\", a field of an unsupported type",
        );
        check(r#"{"properties":[]}"#, "error: its schema does not describe a form");
        check("[]", "error: its schema does not describe a form");
        let deep = format!("{}{}", r#"{"properties":"#.repeat(200), "}".repeat(200));
        check(&deep.replace(":}", ":0}"), "error: its schema does not describe a form");
    }

    #[test]
    fn a_form_that_is_too_large_is_rejected() {
        let fields: Vec<String> =
            (0..4000).map(|it| format!(r#""f{it}":{{"type":"string"}}"#)).collect();
        check(
            &format!(r#"{{"properties":{{{}}}}}"#, fields.join(",")),
            "error: it has 4000 fields; at most 50 are supported",
        );
        let text = "x".repeat(300 * 1024);
        check(
            &format!(r#"{{"properties":{{"a":{{"type":"string","title":"{text}"}}}}}}"#),
            "error: its schema has 307249 bytes; at most 262144 are read",
        );
    }

    #[test]
    fn answers_become_an_object() {
        let json = |text: &str| text.parse::<Json>().unwrap();
        let answers = [("b".to_owned(), json("1")), ("a\"".to_owned(), json(r#"["x"]"#))];
        assert_eq!(Form::content(&answers).as_json().as_str(), r#"{"b":1,"a\"":["x"]}"#);
        assert_eq!(Form::content(&[]).as_json().as_str(), "{}");
    }
}
