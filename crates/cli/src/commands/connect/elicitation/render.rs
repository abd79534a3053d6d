//! Formats untrusted text and the fields of a form for the terminal.
//!
//! Every line of a server's text begins with a bar, so that it cannot imitate output of Wharf. The
//! number of lines is limited.

use wharf::elicitation::{Choice, FieldKind, FormField};
use wharf::protocol::Json;
use wharf_config::text::{clean, clip};

use crate::ui::{Lines, phrase, style};

/// The most lines of an untrusted text that are printed.
const MOST_LINES: usize = 30;

/// The most characters per line.
const LINE_WIDTH: usize = 72;

/// The longest choice or default that is printed in full.
const LONGEST_CHOICE: usize = 100;

/// Formats an untrusted text.
pub(super) fn untrusted_text(text: &str) -> String {
    let mut lines = Lines::default();
    let (mut line_count, mut is_cut) = (0, false);
    'all: for line in text.trim().lines() {
        // Break lines here, because a line that the terminal wraps would continue without its bar.
        // Characters beyond the limit are not processed, because the text may be large.
        let most: String = line.chars().take(MOST_LINES * LINE_WIDTH + 1).collect();
        let cleaned: Vec<char> = clean(&most.replace('\t', "    ")).chars().collect();
        for part in cleaned.chunks(LINE_WIDTH).chain(cleaned.is_empty().then_some(&[][..])) {
            if line_count == MOST_LINES {
                is_cut = true;
                break 'all;
            }
            lines.add(format!("  {} {}", style::faint("|"), String::from_iter(part)));
            line_count += 1;
        }
    }
    if is_cut {
        lines.add(format!("  {} …", style::faint("|")));
    }
    lines.into_text()
}

/// Formats the title, description and choices of a field.
pub(super) fn field(field: &FormField) -> String {
    let title = phrase::name(field.title.as_deref().unwrap_or(&field.name));
    let need = if field.is_required { "required" } else { "optional" };
    let mut lines = Lines::default();
    lines.add(format!("\n{} ({}, {need})", style::strong(&title), field.expected()));
    let described = field.description.as_deref().map(untrusted_text).unwrap_or_default();
    let choices = match &field.kind {
        FieldKind::One(choices) | FieldKind::Many { choices, .. } => choices.as_slice(),
        _ => &[],
    };
    let mut listed = Lines::default();
    for (index, choice) in choices.iter().enumerate() {
        listed.add(format!("  {:>3}  {}", index + 1, named(choice)));
    }
    lines.into_text() + &described + &listed.into_text()
}

/// Formats the prompt of a field.
pub(super) fn prompt(field: &FormField) -> String {
    let name = phrase::name(&field.name);
    match field.default.as_ref().map(value) {
        Some(default) => format!("{name} [{}]: ", clip(&default, LONGEST_CHOICE)),
        None => format!("{name}: "),
    }
}

fn named(choice: &Choice) -> String {
    let value = clip(&choice.value, LONGEST_CHOICE);
    match &choice.title {
        Some(title) if *title != choice.value => {
            format!("{} ({value})", clip(title, LONGEST_CHOICE))
        }
        _ => value,
    }
}

/// Formats a value as it would be typed.
fn value(json: &Json) -> String {
    if let Some(values) = json.items() {
        return values.iter().map(value).collect::<Vec<_>>().join(", ");
    }
    match json.as_str() {
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        other => json.to_text().unwrap_or_else(|| other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use wharf::elicitation::Form;

    use super::*;

    fn form(properties: &str) -> String {
        let schema = format!(r#"{{"properties":{{{properties}}},"required":["a"]}}"#);
        let form = Form::read(&schema.parse().unwrap()).unwrap();
        let rendered = form.fields.iter().map(|it| field(it) + &prompt(it) + "\n");
        plain(&rendered.collect::<String>())
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_field_shows_what_may_be_entered() {
        let fields = r#"
            "a": { "type": "string", "title": "Berth", "description": "Where to\nlie",
                   "oneOf": [{"const":"n","title":"North"},{"const":"s"}], "default": "s" },
            "days": { "type": "integer", "minimum": 1 },
            "lights": { "type": "boolean", "default": true },
            "extras": { "type": "array", "items": { "enum": ["water", "power"] },
                        "default": ["water", "power"] }"#;
        assert_snapshot!(form(fields), @"

        Berth (one of 2, required)
          | Where to
          | lie
            1  North (n)
            2  s
        a [s]: 

        days (a whole number of at least 1, optional)
        days: 

        lights (yes or no, optional)
        lights [yes]: 

        extras (any of 2, optional)
            1  water
            2  power
        extras [water, power]:
        ");
    }

    #[test]
    fn text_of_a_server_cannot_imitate_wharf() {
        let fields = r#""a": { "type": "string", "title": "x\u001b[2J\nerror: y",
            "description": "\u001b]0;z\u0007", "default": "d\r\u202e" }"#;
        assert_snapshot!(form(fields), @r"

        x\u{1b}[2J\nerror: y (text, required)
          | \u{1b}]0;z\u{7}
        a [d\r\u{202e}]:
        ");
        assert_snapshot!(plain(&untrusted_text("\n a\tb\n\n\u{1b}[1mError\r\nc\n")), @r"
        | a    b
        | 
        | \u{1b}[1mError
        | c
        ");
    }

    #[test]
    fn long_texts_are_cut() {
        let lines = plain(&untrusted_text(&"y\n".repeat(1000)));
        assert_eq!(lines.lines().count(), MOST_LINES + 1, "{lines}");
        let line = plain(&untrusted_text(&"x".repeat(1_000_000)));
        assert_eq!(line.lines().count(), MOST_LINES + 1, "{line}");
        assert!(line.lines().all(|line| line.starts_with("  | ") && line.len() <= LINE_WIDTH + 4));
        assert_eq!(untrusted_text(""), "");
    }
}
