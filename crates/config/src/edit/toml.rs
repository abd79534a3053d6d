//! Applies changes to TOML.
//!
//! A server is a section, `[mcp_servers.name]`, and its environment a section below it. A file that
//! uses dotted keys or inline tables instead is changed in the same form.

use std::ops::Range;

use toml_edit::{Array, Document, Value};

use super::change::{Change, EditError};
use super::json_value::{JsonObject, JsonValue};
use super::source_text::{self, Splices};
use super::toml_inline::{self, InlineParent, InlineTarget};
use super::toml_layout::{SectionKind, TomlEntry, TomlLayout, TomlSection};
use super::{toml_add, toml_write, tree};

/// Applies one change.
pub(super) fn change(text: &str, change: &Change) -> Result<String, EditError> {
    match change {
        Change::Set { path, value } => set(text, path, value),
        Change::Remove { path } => remove(text, path),
        Change::Include { path, item } => include(text, path, item),
        Change::Exclude { path, item } => {
            let mut text = text.to_owned();
            while let Some(next) = exclude(&text, path, item)? {
                text = next;
            }
            Ok(text)
        }
    }
}

/// What a path leads to.
enum TomlTarget<'d> {
    /// A value; `parent` is the inline table that contains it.
    Value { value: &'d Value, parent: Option<InlineParent<'d>> },
    /// A missing entry of an inline table.
    Inline(InlineParent<'d>),
    /// A table, or a list of tables.
    Table,
    /// Nothing.
    Absent,
}

fn locate<'d>(
    text: &str,
    layout: &TomlLayout<'d>,
    path: &[String],
) -> Result<TomlTarget<'d>, EditError> {
    let blocked = |depth: usize, found: &'static str, at: usize| EditError::NotAnObject {
        path: path[..depth].join("."),
        found,
        line: Some(source_text::line_number(text, at)),
    };
    if let Some(section) = layout.element_above(path) {
        return Err(blocked(section.path.len(), "a list", section.start));
    }
    if let Some(entry) = layout.entries_by_path().find(|entry| path.starts_with(&entry.path)) {
        let outer = entry.path.len();
        return match toml_inline::follow(entry.value, &path[outer..]) {
            InlineTarget::Value { value, parent } => Ok(TomlTarget::Value { value, parent }),
            InlineTarget::Table(parent) => Ok(TomlTarget::Inline(parent)),
            InlineTarget::Blocked { value, depth } => {
                let found = tree::toml_value(value);
                Err(blocked(outer + depth, found.kind(), found.range.start))
            }
        };
    }
    let is_table = !layout.sections_below(path).is_empty() || !layout.dotted_below(path).is_empty();
    Ok(if is_table { TomlTarget::Table } else { TomlTarget::Absent })
}

fn set(text: &str, path: &[String], value: &JsonValue) -> Result<String, EditError> {
    if value.is_null() {
        return remove(text, path);
    }
    let value = &toml_write::without_nulls(value);
    let document = tree::toml_document(text)?;
    let layout = TomlLayout::of(&document);
    let place = locate(text, &layout, path)?;
    if value_at(&document, path).as_ref() == Some(value) {
        return Ok(text.to_owned());
    }
    let is_list =
        layout.sections.iter().any(|own| own.kind == SectionKind::Element && own.path == path);
    match (place, value) {
        (TomlTarget::Value { value: old, .. }, _) => {
            let mut splices = Splices::default();
            splices.replace(old.span().unwrap_or_default(), toml_write::value(value));
            Ok(splices.apply(text))
        }
        (TomlTarget::Inline(parent), _) if !parent.has_below() => Ok(parent.add(text, value)),
        (TomlTarget::Table, JsonValue::Object(members)) if !is_list => {
            Ok(replace_table(text, &layout, path, members))
        }
        (TomlTarget::Inline(_) | TomlTarget::Table, _) => {
            let left = remove(text, path)?;
            let after = set(&left, path, value)?;
            // The remaining text may be too short to infer the line ends of the file.
            let is_unclear = !left.contains('\n');
            Ok(if is_unclear { after.replace('\n', source_text::line_ending(text)) } else { after })
        }
        (TomlTarget::Absent, _) => Ok(toml_add::add(text, &layout, path, value)),
    }
}

fn remove(text: &str, path: &[String]) -> Result<String, EditError> {
    let document = tree::toml_document(text)?;
    let layout = TomlLayout::of(&document);
    let mut splices = Splices::default();
    match locate(text, &layout, path) {
        // The path leads through a value that is not a table, so the key does not exist.
        Err(_) | Ok(TomlTarget::Absent) => {}
        Ok(TomlTarget::Value { parent: Some(parent), .. } | TomlTarget::Inline(parent)) => {
            if let Some(next) = parent.remove(text) {
                return remove(&next, path);
            }
        }
        Ok(TomlTarget::Value { parent: None, .. } | TomlTarget::Table) => {
            for entry in layout.dotted_below(path) {
                splices.delete(lines_of(text, entry));
            }
            for section in layout.sections_below(path) {
                splices.delete(with_blank_lines(text, section));
            }
        }
    }
    Ok(splices.apply(text))
}

fn include(text: &str, path: &[String], item: &str) -> Result<String, EditError> {
    let document = tree::toml_document(text)?;
    match list(text, &TomlLayout::of(&document), path)? {
        None => set(text, path, &JsonValue::Array(vec![item.into()])),
        Some(array) if array.iter().any(|own| own.as_str() == Some(item)) => Ok(text.to_owned()),
        Some(array) => Ok(toml_inline::include(text, array, item)),
    }
}

fn exclude(text: &str, path: &[String], item: &str) -> Result<Option<String>, EditError> {
    let document = tree::toml_document(text)?;
    let array = list(text, &TomlLayout::of(&document), path)?;
    Ok(array.and_then(|array| toml_inline::exclude(text, array, item)))
}

/// Returns the list at a path, if it exists.
fn list<'d>(
    text: &str,
    layout: &TomlLayout<'d>,
    path: &[String],
) -> Result<Option<&'d Array>, EditError> {
    let error = |found, at: Option<usize>| EditError::NotAList {
        path: path.join("."),
        found,
        line: at.map(|at| source_text::line_number(text, at)),
    };
    match locate(text, layout, path)? {
        TomlTarget::Value { value: Value::Array(array), .. } => Ok(Some(array)),
        TomlTarget::Value { value, .. } => {
            let found = tree::toml_value(value);
            Err(error(found.kind(), Some(found.range.start)))
        }
        TomlTarget::Inline(parent) if parent.has_below() => Err(error("an object", None)),
        TomlTarget::Table => {
            let first = layout.sections_below(path).into_iter().next();
            let is_list =
                first.is_some_and(|own| own.kind == SectionKind::Element && own.path == path);
            let found = if is_list { "a list of tables" } else { "a table" };
            Err(error(found, first.map(|section| section.start)))
        }
        TomlTarget::Inline(_) | TomlTarget::Absent => Ok(None),
    }
}

/// Replaces a table, at the start of the old one.
fn replace_table(
    text: &str,
    layout: &TomlLayout<'_>,
    path: &[String],
    members: &JsonObject,
) -> String {
    let mut splices = Splices::default();
    let (dotted, sections) = (layout.dotted_below(path), layout.sections_below(path));
    if let Some(first) = dotted.first() {
        let own = &path[layout.sections[first.section].path.len()..];
        let at = first.start + source_text::indentation(text, first.start).len();
        let end = first.value.span().map_or(at, |span| span.end);
        splices.replace(at..end, toml_write::pair(own, &JsonValue::Object(members.clone())));
    } else if let Some(first) = sections.first() {
        let tables = toml_write::tables(path, members, source_text::line_ending(text));
        splices.replace(first.start..first.end, tables);
    }
    let kept = usize::from(dotted.is_empty());
    dotted.iter().skip(1).for_each(|entry| splices.delete(lines_of(text, entry)));
    sections.iter().skip(kept).for_each(|own| splices.delete(with_blank_lines(text, own)));
    splices.apply(text)
}

/// Returns the lines of an entry with their line end, and with the blank line after it if otherwise
/// two blank lines would remain.
fn lines_of(text: &str, entry: &TomlEntry<'_>) -> Range<usize> {
    let next = source_text::next_line(text, entry.end);
    let is_blank = |at: usize| text[at..source_text::line_end(text, at)].trim().is_empty();
    if next == text.len() && !text.ends_with('\n') && entry.start > 0 {
        return source_text::line_end(text, source_text::line_start(text, entry.start - 1))..next;
    }
    let is_set_off = entry.start == 0 || is_blank(source_text::line_start(text, entry.start - 1));
    if is_set_off && next < text.len() && is_blank(next) {
        return entry.start..source_text::next_line(text, next);
    }
    entry.start..next
}

/// Returns the range of a section with the blank lines that separate it.
fn with_blank_lines(text: &str, section: &TomlSection) -> Range<usize> {
    let before = source_text::trimmed_length(&text[..section.start]);
    if before == 0 {
        return 0..skip_blank_lines(text, source_text::next_line(text, section.end));
    }
    before..section.end
}

fn skip_blank_lines(text: &str, at: usize) -> usize {
    source_text::line_start(text, text.len() - text[at..].trim_start().len()).max(at)
}

fn value_at(document: &Document<&str>, path: &[String]) -> Option<JsonValue> {
    let item = path.iter().try_fold(document.as_item(), |item, key| item.get(key))?;
    Some(tree::toml_item(item).to_value())
}
