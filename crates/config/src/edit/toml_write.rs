//! Formats new TOML: keys, values on one line, and tables with headers.

use super::json_value::{JsonObject, JsonValue};
use super::json_write::quote;

/// Writes a dotted key; quotes the parts that need it.
pub(super) fn key(path: &[String]) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|part| {
            let is_bare =
                part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            if is_bare && !part.is_empty() { part.clone() } else { string(part) }
        })
        .collect();
    parts.join(".")
}

/// Writes a string.
pub(super) fn string(text: &str) -> String {
    // TOML must escape this control character, JSON need not; all other escapes are the same.
    quote(text).replace('\u{7f}', "\\u007F")
}

/// Writes a value on one line.
pub(super) fn value(value: &JsonValue) -> String {
    match value {
        JsonValue::Object(members) if members.is_empty() => "{}".to_owned(),
        JsonValue::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| pair(std::slice::from_ref(name), value))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        JsonValue::Array(items) => {
            let items: Vec<String> = items.iter().map(self::value).collect();
            format!("[{}]", items.join(", "))
        }
        JsonValue::String(text) => string(text),
        // TOML integers have 64 bits with a sign; larger numbers must be floats.
        JsonValue::Number(number) if number.as_u64().is_some_and(|n| i64::try_from(n).is_err()) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| format!("{number:?}"))
        }
        scalar => scalar.to_string(),
    }
}

/// Writes a key and its value.
pub(super) fn pair(path: &[String], value: &JsonValue) -> String {
    format!("{} = {}", key(path), self::value(value))
}

/// Writes a table and the tables in it with their headers, without a final line end. A table that
/// contains only tables gets no header.
pub(super) fn tables(path: &[String], members: &JsonObject, newline: &str) -> String {
    let mut out = String::new();
    write_tables(&mut out, path, members, newline);
    out
}

fn write_tables(out: &mut String, path: &[String], members: &JsonObject, newline: &str) {
    let holds_only_tables =
        !members.is_empty() && members.iter().all(|(_, value)| value.is_object());
    if !holds_only_tables {
        if !out.is_empty() {
            out.push_str(newline);
            out.push_str(newline);
        }
        out.push('[');
        out.push_str(&key(path));
        out.push(']');
        for (name, value) in members.iter().filter(|(_, value)| !value.is_object()) {
            out.push_str(newline);
            out.push_str(&pair(std::slice::from_ref(name), value));
        }
    }
    for (name, value) in members {
        if let JsonValue::Object(members) = value {
            write_tables(out, &[path, std::slice::from_ref(name)].concat(), members, newline);
        }
    }
}

/// Removes all nulls, which TOML does not have.
pub(super) fn without_nulls(value: &JsonValue) -> JsonValue {
    match value {
        JsonValue::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        JsonValue::Array(items) => {
            items.iter().filter(|item| !item.is_null()).map(without_nulls).collect()
        }
        scalar => scalar.clone(),
    }
}
