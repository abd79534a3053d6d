//! Parses what a person typed into a form field and validates it against the field's schema.

use serde::Serialize;
use serde_json::{Number, Value};
use wharf_protocol::Json;

use super::field::{Choice, FieldKind, FormField, TextFormat, range};
use super::text_format;

/// Input that is not valid for its field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("it must be {expected}")]
pub struct InvalidInput {
    /// What the field accepts, in words.
    pub expected: String,
}

impl FormField {
    /// Parses what a person typed. A choice is given by value, title or number; several choices
    /// are separated by commas.
    pub fn parse(&self, typed: &str) -> Result<Json, InvalidInput> {
        let value = self.read_value(typed.trim_end_matches(['\r', '\n']))?;
        self.check(&value)?;
        Json::encode(&value).map_err(|_| self.invalid_input())
    }

    /// Validates a value, such as the default of the schema.
    pub(super) fn check(&self, value: &Value) -> Result<(), InvalidInput> {
        let is_one = |choices: &[Choice], value: &Value| {
            choices.iter().any(|choice| value == choice.value.as_str())
        };
        let fits = match (&self.kind, value) {
            (FieldKind::Text { format, min, max }, Value::String(text)) => {
                let length = text.chars().count() as u64;
                is_in_range(length, *min, *max)
                    && format.is_none_or(|format| has_format(text, format))
            }
            (FieldKind::Number { is_whole, min, max }, Value::Number(number)) => {
                let is_small = |number: f64| {
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
                };
                (!is_whole || !number.is_f64()) && number.as_f64().is_some_and(is_small)
            }
            (FieldKind::Boolean, Value::Bool(_)) => true,
            (FieldKind::One(choices), value) => is_one(choices, value),
            (FieldKind::Many { choices, min, max }, Value::Array(values)) => {
                is_in_range(values.len() as u64, *min, *max)
                    && values.iter().all(|value| is_one(choices, value))
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.invalid_input()) }
    }

    fn read_value(&self, typed: &str) -> Result<Value, InvalidInput> {
        let word = typed.trim();
        match &self.kind {
            FieldKind::Text { format: None, .. } => Ok(typed.into()),
            FieldKind::Text { format: Some(_), .. } => Ok(word.into()),
            FieldKind::Number { is_whole, .. } => {
                number(word, *is_whole).map(Value::Number).ok_or_else(|| self.invalid_input())
            }
            FieldKind::Boolean => match word.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err(self.invalid_input()),
            },
            FieldKind::One(choices) => {
                find_choice(choices, word).map(Value::from).ok_or_else(|| self.invalid_input())
            }
            FieldKind::Many { choices, .. } => {
                let mut values: Vec<Value> = Vec::new();
                for word in word.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let value =
                        find_choice(choices, word).ok_or_else(|| self.invalid_input())?.into();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Ok(values.into())
            }
        }
    }

    fn invalid_input(&self) -> InvalidInput {
        let expected = match &self.kind {
            FieldKind::One(choices) => {
                format!("one of the choices, or a number from 1 to {}", choices.len())
            }
            FieldKind::Many { choices, min, max } => {
                let many = range(*min, *max).map(|range| format!("{range} of the choices: "));
                let many = many.unwrap_or_default();
                format!("{many}names, or numbers from 1 to {}, separated by commas", choices.len())
            }
            _ => self.expected(),
        };
        InvalidInput { expected }
    }
}

fn is_in_range(number: u64, min: Option<u64>, max: Option<u64>) -> bool {
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}

fn has_format(text: &str, format: TextFormat) -> bool {
    match format {
        TextFormat::Email => text_format::is_email(text),
        TextFormat::Uri => text_format::is_uri(text),
        TextFormat::Date => text_format::is_date(text),
        TextFormat::DateTime => text_format::is_date_time(text),
    }
}

fn number(word: &str, is_whole: bool) -> Option<Number> {
    if let Ok(number) = word.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = word.parse::<u64>() {
        return Some(number.into());
    }
    // Rust also parses words such as `inf`, which are not JSON numbers.
    if is_whole { None } else { Number::from_f64(word.parse().ok()?) }
}

/// Finds a choice by its value, else by its title, else by its number.
fn find_choice<'a>(choices: &'a [Choice], word: &str) -> Option<&'a str> {
    let by_value = || choices.iter().find(|choice| choice.value == word);
    let by_title = || {
        let is_called = |title: &String| title.to_lowercase() == word.to_lowercase();
        choices.iter().find(|choice| choice.title.as_ref().is_some_and(is_called))
    };
    let by_number = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
    let choice = by_value().or_else(by_title).or_else(by_number)?;
    Some(&choice.value)
}

#[cfg(test)]
mod tests {
    use crate::elicitation::{EmptyInput, Form};

    fn check(schema: &str, answers: &[(&str, &str)]) {
        let form = format!(r#"{{"properties":{{"a":{schema}}}}}"#);
        let form = Form::read(&form.parse().unwrap()).unwrap();
        let field = form.fields.first().unwrap_or_else(|| panic!("{schema} is not supported"));
        for (typed, expected) in answers {
            let rendered = match field.parse(typed) {
                Ok(value) => value.as_str().to_owned(),
                Err(invalid) => invalid.to_string(),
            };
            assert_eq!(rendered, *expected, "{schema} {typed:?}");
        }
    }

    #[test]
    fn text_is_kept_as_typed() {
        check(
            r#"{"type":"string","minLength":2,"maxLength":4}"#,
            &[
                (" é \n", r#"" é ""#),
                ("a\u{1b}", r#""a\u001b""#),
                ("é", "it must be text of 2 to 4 characters"),
                ("12345", "it must be text of 2 to 4 characters"),
            ],
        );
        check(
            r#"{"type":"string","format":"email"}"#,
            &[(" a@b.example ", r#""a@b.example""#), ("a@", "it must be an email address")],
        );
    }

    #[test]
    fn numbers_are_checked_against_their_range() {
        let integer = "it must be a whole number from -1 to 9";
        check(
            r#"{"type":"integer","minimum":-1,"maximum":9}"#,
            &[
                (" 3 ", "3"),
                ("-1", "-1"),
                ("9", "9"),
                ("10", integer),
                ("-2", integer),
                ("1.5", integer),
                ("1e3", integer),
                ("many", integer),
            ],
        );
        let number = "it must be a number";
        check(
            r#"{"type":"number"}"#,
            &[
                ("1.5", "1.5"),
                ("2", "2"),
                ("18446744073709551615", "18446744073709551615"),
                ("inf", number),
                ("NaN", number),
                ("1e999", number),
                ("1,5", number),
            ],
        );
    }

    #[test]
    fn booleans_are_accepted_in_several_spellings() {
        let other = "it must be yes or no";
        check(
            r#"{"type":"boolean"}"#,
            &[("y", "true"), ("YES", "true"), ("false", "false"), ("N", "false"), ("1", other)],
        );
    }

    #[test]
    fn choices_can_be_given_by_value_title_or_number() {
        let titled = r#"[{"const":"n","title":"North"},{"const":"1","title":"One, or so"}]"#;
        check(
            &format!(r#"{{"type":"string","oneOf":{titled}}}"#),
            &[
                ("n", r#""n""#),
                ("north", r#""n""#),
                // A value that looks like a number is taken as the value.
                ("1", r#""1""#),
                ("2", r#""1""#),
                ("One, or so", r#""1""#),
                ("0", "it must be one of the choices, or a number from 1 to 2"),
                ("3", "it must be one of the choices, or a number from 1 to 2"),
            ],
        );
        let few =
            "it must be 1 to 2 of the choices: names, or numbers from 1 to 3, separated by commas";
        check(
            r#"{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["x","y","z"]}}"#,
            &[
                ("x, 2", r#"["x","y"]"#),
                ("x,x,", r#"["x"]"#),
                ("1,2,3", few),
                (",", few),
                ("x,w", few),
            ],
        );
    }

    #[test]
    fn empty_input_means_the_default_if_it_is_valid() {
        let empty = |schema: &str, is_required: bool| {
            let required = if is_required { r#","required":["a"]"# } else { "" };
            let form = format!(r#"{{"properties":{{"a":{schema}}}{required}}}"#);
            match Form::read(&form.parse().unwrap()).unwrap().fields[0].empty_input() {
                EmptyInput::Value(value) => value.as_str().to_owned(),
                EmptyInput::Omitted => "left out".to_owned(),
                EmptyInput::Missing => "missing".to_owned(),
            }
        };
        let fits = r#"{"type":"integer","maximum":5,"default":3}"#;
        let does_not = r#"{"type":"integer","maximum":5,"default":7}"#;
        assert_eq!(empty(fits, true), "3");
        assert_eq!(empty(fits, false), "3");
        assert_eq!(empty(does_not, true), "missing");
        assert_eq!(empty(does_not, false), "left out");
        assert_eq!(empty(r#"{"type":"string","default":7}"#, true), "missing");
        assert_eq!(empty(r#"{"type":"array","items":{"enum":["x"]}}"#, true), "[]");
        let one = r#"{"type":"array","minItems":1,"items":{"enum":["x"]}}"#;
        assert_eq!(empty(one, true), "missing");
        let two = r#"{"type":"array","items":{"enum":["x","y"]},"default":["y"]}"#;
        assert_eq!(empty(two, true), r#"["y"]"#);
    }

    #[test]
    fn a_field_that_asks_for_a_secret_is_detected() {
        let wants = |name: &str, schema: &str| {
            let form = format!(r#"{{"properties":{{"{name}":{schema}}}}}"#);
            Form::read(&form.parse().unwrap()).unwrap().fields[0].asks_for_a_secret()
        };
        assert!(wants("password", r#"{"type":"string"}"#));
        assert!(wants("value", r#"{"type":"string","title":"Your API key"}"#));
        assert!(!wants("berth", r#"{"type":"string","title":"Which berth?"}"#));
        assert!(!wants("max_tokens", r#"{"type":"integer"}"#));
        assert!(!wants("auth", r#"{"type":"string","enum":["basic","none"]}"#));
    }
}
