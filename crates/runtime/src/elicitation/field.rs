//! One field of a form: its name, its type and its default, read from a property of the schema.

use serde_json::{Map, Value};
use wharf_config::secret::names_a_secret;
use wharf_protocol::Json;

/// The maximum number of choices of a field.
const MAX_CHOICES: usize = 500;

/// One field of a form. All texts are untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// The name of the property in the result.
    pub name: String,
    /// The title to display.
    pub title: Option<String>,
    /// The description to display.
    pub description: Option<String>,
    /// Whether a value is required.
    pub is_required: bool,
    /// Which values are valid.
    pub kind: FieldKind,
    /// The value for empty input, if the schema has a valid default.
    pub default: Option<Json>,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A text.
    Text {
        /// The required format.
        format: Option<TextFormat>,
        /// The minimum number of characters.
        min: Option<u64>,
        /// The maximum number of characters.
        max: Option<u64>,
    },
    /// A number.
    Number {
        /// Whether only integers are valid.
        is_whole: bool,
        /// The minimum.
        min: Option<f64>,
        /// The maximum.
        max: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several choices.
    One(Vec<Choice>),
    /// Any number of several choices.
    Many {
        /// The choices.
        choices: Vec<Choice>,
        /// The minimum number of values.
        min: Option<u64>,
        /// The maximum number of values.
        max: Option<u64>,
    },
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// An email address.
    Email,
    /// A URI with a scheme.
    Uri,
    /// A date: `2026-07-28`.
    Date,
    /// A date and time: `2026-07-28T12:00:00Z`.
    DateTime,
}

/// One choice of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// The title to display.
    pub title: Option<String>,
}

/// What empty input means for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmptyInput {
    /// This value is sent.
    Value(Json),
    /// The field is not sent.
    Omitted,
    /// Input is required.
    Missing,
}

impl FormField {
    /// Reads a property of the schema; returns `None` if its type is not supported.
    pub(super) fn read(name: &str, schema: &Value, is_required: bool) -> Option<Self> {
        let schema = schema.as_object()?;
        let text = |key: &str| Some(schema.get(key)?.as_str()?.to_owned());
        let mut field = Self {
            name: name.to_owned(),
            title: text("title").filter(|title| !title.is_empty()),
            description: text("description").filter(|text| !text.is_empty()),
            is_required,
            kind: FieldKind::read(schema)?,
            default: None,
        };
        let default = schema.get("default").filter(|value| field.check(value).is_ok());
        field.default = default.and_then(|value| Json::encode(value).ok());
        Some(field)
    }

    /// Returns what empty input means.
    pub fn empty_input(&self) -> EmptyInput {
        match (&self.default, &self.kind) {
            (Some(default), _) => EmptyInput::Value(default.clone()),
            (None, _) if !self.is_required => EmptyInput::Omitted,
            (None, FieldKind::Many { .. }) if self.check(&Value::Array(Vec::new())).is_ok() => {
                Json::parse("[]").map_or(EmptyInput::Missing, EmptyInput::Value)
            }
            (None, _) => EmptyInput::Missing,
        }
    }

    /// Tells whether the field seems to ask for a secret, which servers must not do with a form.
    pub fn asks_for_a_secret(&self) -> bool {
        let is_free = matches!(self.kind, FieldKind::Text { format: None, .. });
        let names = [Some(&self.name), self.title.as_ref()];
        is_free && names.into_iter().flatten().any(|name| names_a_secret(name))
    }

    /// Returns the valid values in words, such as `a whole number from 1 to 9`.
    pub fn expected(&self) -> String {
        match &self.kind {
            FieldKind::Text { format: Some(format), .. } => format.words().to_owned(),
            FieldKind::Text { format: None, min, max } => match range(*min, *max) {
                Some(range) => format!("text of {range} characters"),
                None => "text".to_owned(),
            },
            FieldKind::Number { is_whole, min, max } => {
                let what = if *is_whole { "a whole number" } else { "a number" };
                match (min, max) {
                    (Some(min), Some(max)) => format!("{what} from {min} to {max}"),
                    (Some(min), None) => format!("{what} of at least {min}"),
                    (None, Some(max)) => format!("{what} of at most {max}"),
                    (None, None) => what.to_owned(),
                }
            }
            FieldKind::Boolean => "yes or no".to_owned(),
            FieldKind::One(choices) => format!("one of {}", choices.len()),
            FieldKind::Many { choices, min, max } => match range(*min, *max) {
                Some(range) => format!("{range} of {}", choices.len()),
                None => format!("any of {}", choices.len()),
            },
        }
    }
}

impl FieldKind {
    fn read(schema: &Map<String, Value>) -> Option<Self> {
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        match schema.get("type")?.as_str()? {
            "string" if schema.contains_key("enum") || schema.contains_key("oneOf") => {
                Some(Self::One(choices(schema, "oneOf")?))
            }
            "string" => Some(Self::Text {
                format: schema.get("format").and_then(Value::as_str).and_then(TextFormat::read),
                min: count("minLength").filter(|min| *min > 0),
                max: count("maxLength"),
            }),
            kind @ ("number" | "integer") => Some(Self::Number {
                is_whole: kind == "integer",
                min: number("minimum"),
                max: number("maximum"),
            }),
            "boolean" => Some(Self::Boolean),
            "array" => Some(Self::Many {
                choices: choices(schema.get("items")?.as_object()?, "anyOf")?,
                min: count("minItems").filter(|min| *min > 0),
                max: count("maxItems"),
            }),
            _ => None,
        }
    }
}

impl TextFormat {
    fn read(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// Returns the format in words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "an address such as https://example.org",
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a date and time such as 2026-07-28T12:00:00Z",
        }
    }
}

/// Reads the choices: plain values, or values with titles under the key `titled`.
fn choices(schema: &Map<String, Value>, titled: &str) -> Option<Vec<Choice>> {
    let with_title = |value: &Value, title: Option<&Value>| {
        let title = title.and_then(Value::as_str).filter(|title| !title.is_empty());
        Some(Choice { value: value.as_str()?.to_owned(), title: title.map(str::to_owned) })
    };
    let listed = |key: &str| schema.get(key).and_then(Value::as_array);
    let choices: Option<Vec<Choice>> = match (listed("enum"), listed(titled)) {
        (Some(values), _) => {
            let names = listed("enumNames");
            let name = |index| names.and_then(|names| names.get(index));
            let values = values.iter().enumerate();
            values.map(|(index, value)| with_title(value, name(index))).collect()
        }
        (None, Some(values)) => {
            values.iter().map(|it| with_title(it.get("const")?, it.get("title"))).collect()
        }
        (None, None) => None,
    };
    choices.filter(|choices| (1..=MAX_CHOICES).contains(&choices.len()))
}

/// Returns a range in words: `2 to 5`, `at least 2`.
pub(super) fn range(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (None, None) => None,
    }
}
