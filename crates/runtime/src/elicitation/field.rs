//! One field of a form: what it is called, what may be entered, and what counts if nothing is.

use serde_json::{Map, Value};
use wharf_config::secret::names_a_secret;
use wharf_protocol::Json;

/// How many things there can be to choose from.
const MAX_CHOICES: usize = 500;

/// One field of a form. All texts are foreign.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// What the answer is filed under.
    pub name: String,
    /// What it is called for people.
    pub title: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// It has to be filled in.
    pub is_required: bool,
    /// What may be entered.
    pub kind: FieldKind,
    /// What counts if nothing is entered; it fits.
    pub default: Option<Json>,
}

/// What may be entered in a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A text.
    Text {
        /// How it has to be written.
        format: Option<TextFormat>,
        /// How many characters it has at least.
        min: Option<u64>,
        /// How many characters it has at most.
        max: Option<u64>,
    },
    /// A number.
    Number {
        /// It has no fraction.
        is_whole: bool,
        /// The smallest.
        min: Option<f64>,
        /// The largest.
        max: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several.
    One(Vec<Choice>),
    /// Some of several.
    Many {
        /// What there is to choose from.
        choices: Vec<Choice>,
        /// How many are chosen at least.
        min: Option<u64>,
        /// How many are chosen at most.
        max: Option<u64>,
    },
}

/// How a text has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// As an email address.
    Email,
    /// As an address with a scheme.
    Uri,
    /// As a day: `2026-07-28`.
    Date,
    /// As a moment: `2026-07-28T12:00:00Z`.
    DateTime,
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What it is called for people.
    pub title: Option<String>,
}

/// What it means that nothing was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmptyInput {
    /// This counts.
    Value(Json),
    /// The field is left out.
    Omitted,
    /// Something has to be entered.
    Missing,
}

impl FormField {
    /// Reads a field; none if it is of no kind that can be asked.
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

    /// Says what it means that nothing was entered.
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

    /// Tells whether it seems to want a secret, which servers must not ask for with a form.
    pub fn asks_for_a_secret(&self) -> bool {
        let is_free = matches!(self.kind, FieldKind::Text { format: None, .. });
        let names = [Some(&self.name), self.title.as_ref()];
        is_free && names.into_iter().flatten().any(|name| names_a_secret(name))
    }

    /// Says in words what may be entered, such as `a whole number from 1 to 9`.
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

    /// Says how it is written.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "an address such as https://example.org",
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a date and time such as 2026-07-28T12:00:00Z",
        }
    }
}

/// Reads what there is to choose from: plain values, or values with titles under `titled`.
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

/// Says how many: `2 to 5`, `at least 2`.
pub(super) fn range(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (None, None) => None,
    }
}
