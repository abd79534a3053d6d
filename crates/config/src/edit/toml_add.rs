//! Adds missing keys to TOML: a line to a section, or sections to the file.

use super::json_value::{JsonObject, JsonValue};
use super::json_write::wrap;
use super::source_text::{self, Splices};
use super::toml_layout::TomlLayout;
use super::toml_write;

/// Adds a missing key in the form of its neighbours: dotted key, line or section.
pub(super) fn add(
    text: &str,
    layout: &TomlLayout<'_>,
    path: &[String],
    value: &JsonValue,
) -> String {
    let number = layout.section_above(path);
    let section = &layout.sections[number];
    if let Some((entry, shared)) = layout.dotted_beside(path)
        && shared > section.path.len()
    {
        let outer = layout.sections[entry.section].path.len();
        let line = toml_write::pair(&path[outer..=shared], &wrap(&path[shared + 1..], value));
        return add_line(text, entry.end, source_text::indentation(text, entry.start), &line);
    }
    match (value, path.split_last()) {
        (JsonValue::Object(members), _) => add_tables(text, layout, path, members),
        (_, Some((key, parents))) if parents.len() > section.path.len() => {
            let members = JsonObject::from_iter([(key.clone(), value.clone())]);
            add_tables(text, layout, parents, &members)
        }
        _ => {
            let line = toml_write::pair(&path[section.path.len()..], value);
            match layout.entries.iter().rfind(|entry| entry.section == number) {
                Some(last) => {
                    add_line(text, last.end, source_text::indentation(text, last.start), &line)
                }
                None if number > 0 => add_line(text, section.end, "", &line),
                None => add_at_top(text, layout, &line),
            }
        }
    }
}

fn add_line(text: &str, at: usize, indentation: &str, line: &str) -> String {
    let mut splices = Splices::default();
    splices.insert(at, format!("{}{indentation}{line}", source_text::line_ending(text)));
    splices.apply(text)
}

/// Adds the first line without a header, above the first header and its comments.
fn add_at_top(text: &str, layout: &TomlLayout<'_>, line: &str) -> String {
    let newline = source_text::line_ending(text);
    let Some(first) = layout.sections.get(1) else {
        return add_at_end(text, line, newline);
    };
    let mut at = first.start;
    while at > 0 {
        let above = source_text::line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with('#') {
            break;
        }
        at = above;
    }
    let mut splices = Splices::default();
    splices.insert(at, format!("{line}{newline}{newline}"));
    splices.apply(text)
}

/// Adds tables after their siblings, with a blank line between.
fn add_tables(
    text: &str,
    layout: &TomlLayout<'_>,
    path: &[String],
    members: &JsonObject,
) -> String {
    let newline = source_text::line_ending(text);
    let tables = toml_write::tables(path, members, newline);
    let gap = newline.repeat(2);
    let parents = &path[..path.len() - 1];
    let siblings = if parents.is_empty() { Vec::new() } else { layout.sections_below(parents) };
    match siblings.last() {
        Some(last) => add_line(text, with_comments(text, last.end), newline, &tables),
        None => add_at_end(text, &tables, &gap),
    }
}

fn add_at_end(text: &str, added: &str, gap: &str) -> String {
    let end = source_text::trimmed_length(text);
    if end == 0 {
        return format!("{added}{}", source_text::line_ending(text));
    }
    let mut splices = Splices::default();
    splices.insert(end, format!("{gap}{added}"));
    splices.apply(text)
}

/// Returns the end of the comments after a section, unless they belong to the next header.
fn with_comments(text: &str, end: usize) -> usize {
    let mut last = end;
    loop {
        let next = source_text::next_line(text, last);
        let line = text[next..source_text::line_end(text, next)].trim();
        match line.bytes().next() {
            Some(b'#') => last = source_text::line_end(text, next),
            Some(_) => return end,
            None => return last,
        }
    }
}
