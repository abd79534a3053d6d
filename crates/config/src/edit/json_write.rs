//! Formats new JSON values, on one line or several.
//!
//! Short lists of scalars are on one line, as people write `args`.

use super::json_value::JsonValue;

/// Lists of scalars that are longer than this get one line per item.
const LINE_WIDTH: usize = 100;

/// Writes values on several lines.
pub(super) struct MultilineWriter<'t> {
    pub(super) newline: &'t str,
    /// The indentation of one level.
    pub(super) unit: &'t str,
}

impl MultilineWriter<'_> {
    /// Writes a value that begins on a line with this indentation.
    pub(super) fn write(&self, out: &mut String, value: &JsonValue, indentation: &str) {
        let inner = format!("{indentation}{}", self.unit);
        match value {
            JsonValue::Object(members) if !members.is_empty() => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    self.next_line(out, index, &inner);
                    out.push_str(&quote(key));
                    out.push_str(": ");
                    self.write(out, value, &inner);
                }
                self.next_line(out, 0, indentation);
                out.push('}');
            }
            JsonValue::Array(items) if !items.is_empty() && !fits_on_a_line(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.next_line(out, index, &inner);
                    self.write(out, item, &inner);
                }
                self.next_line(out, 0, indentation);
                out.push(']');
            }
            _ => write_line(out, value, ": ", " "),
        }
    }

    /// Begins a line, after a comma if there is an item before.
    fn next_line(&self, out: &mut String, before: usize, indentation: &str) {
        out.push_str(if before == 0 { "" } else { "," });
        out.push_str(self.newline);
        out.push_str(indentation);
    }
}

/// Writes a value on one line.
pub(super) fn write_line(out: &mut String, value: &JsonValue, colon: &str, comma: &str) {
    match value {
        JsonValue::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                    out.push_str(comma);
                }
                out.push_str(&quote(key));
                out.push_str(colon);
                write_line(out, value, colon, comma);
            }
            out.push('}');
        }
        JsonValue::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                    out.push_str(comma);
                }
                write_line(out, item, colon, comma);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn fits_on_a_line(items: &[JsonValue]) -> bool {
    let length: usize = items.iter().map(|item| item.to_string().chars().count() + 2).sum();
    length <= LINE_WIDTH && items.iter().all(|item| item.as_array().is_none() && !item.is_object())
}

/// Writes a JSON string; TOML has the same escapes.
pub(super) fn quote(text: &str) -> String {
    JsonValue::from(text).to_string()
}

/// Wraps a value in objects for missing keys.
pub(super) fn wrap(path: &[String], value: &JsonValue) -> JsonValue {
    path.iter().rev().fold(value.clone(), |value, key| JsonValue::object([(key.as_str(), value)]))
}
