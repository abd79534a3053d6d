//! Changes in TOML arrays and inline tables, which have the same layout as JSON lists.

use std::ops::Range;

use toml_edit::{Array, InlineTable, Value};

use super::json_value::JsonValue;
use super::json_write::wrap;
use super::sequence::{Placement, Sequence};
use super::source_text;
use super::toml_layout::common_prefix_length;
use super::toml_write;
use crate::document::Notation;

/// What a path leads to within a value.
pub(super) enum InlineTarget<'d> {
    /// A value; `parent` is the table that has it as an entry, unless the path is empty.
    Value { value: &'d Value, parent: Option<InlineParent<'d>> },
    /// A table without an entry for the rest of the path; entries may exist below it.
    Table(InlineParent<'d>),
    /// A value without keys, after `depth` keys of the path.
    Blocked { value: &'d Value, depth: usize },
}

/// An inline table and the rest of the path.
pub(super) struct InlineParent<'d> {
    pub(super) table: &'d InlineTable,
    pub(super) rest: Vec<String>,
}

/// Follows a path from a value.
pub(super) fn follow<'d>(value: &'d Value, path: &[String]) -> InlineTarget<'d> {
    let (mut value, mut depth, mut parent) = (value, 0, None);
    while depth < path.len() {
        let Value::InlineTable(table) = value else {
            return InlineTarget::Blocked { value, depth };
        };
        let here = InlineParent { table, rest: path[depth..].to_vec() };
        let entries = entries(table);
        let Some((keys, inner)) = entries.iter().find(|(keys, _)| here.rest.starts_with(keys))
        else {
            return InlineTarget::Table(here);
        };
        value = inner;
        depth += keys.len();
        parent = Some(here);
    }
    InlineTarget::Value { value, parent }
}

impl InlineParent<'_> {
    /// Tells whether there are dotted entries below the rest of the path.
    pub(super) fn has_below(&self) -> bool {
        entries(self.table).iter().any(|(keys, _)| keys.starts_with(&self.rest))
    }

    /// Adds a value under the rest of the path, which has no entry.
    pub(super) fn add(&self, text: &str, value: &JsonValue) -> String {
        let entries = entries(self.table);
        // A table of dotted keys can be extended only with dotted keys.
        let shared = entries
            .iter()
            .map(|(keys, _)| common_prefix_length(keys, &self.rest))
            .max()
            .unwrap_or(0);
        let (key, inner) = self.rest.split_at((shared + 1).min(self.rest.len()));
        let item = toml_write::pair(key, &wrap(inner, value));
        append(text, (self.table.span(), ends(&entries)), &item, " ")
    }

    /// Removes the last entry at or below the rest of the path, if there is one.
    pub(super) fn remove(&self, text: &str) -> Option<String> {
        let entries = entries(self.table);
        let index = entries.iter().rposition(|(keys, _)| keys.starts_with(&self.rest))?;
        cut(text, (self.table.span(), ends(&entries)), index)
    }
}

/// Adds a string at the end of a list.
pub(super) fn include(text: &str, array: &Array, item: &str) -> String {
    append(text, (array.span(), elements(array)), &toml_write::string(item), "")
}

/// Removes the last occurrence of a string from a list, if there is one.
pub(super) fn exclude(text: &str, array: &Array, item: &str) -> Option<String> {
    let index = (0..array.len())
        .rev()
        .find(|index| array.get(*index).and_then(Value::as_str) == Some(item))?;
    cut(text, (array.span(), elements(array)), index)
}

/// The range of a list, and the ends of its items.
type ListLayout = (Option<Range<usize>>, Vec<usize>);

fn append(text: &str, list: ListLayout, item: &str, pad: &str) -> String {
    let comments = source_text::comments(text, Notation::Toml);
    let Some(sequence) = sequence(text, &comments, list) else { return text.to_owned() };
    let placement = sequence.placement("  ", " ").unwrap_or(Placement::SameLine(" "));
    sequence.append(&placement, item, pad)
}

fn cut(text: &str, list: ListLayout, index: usize) -> Option<String> {
    let comments = source_text::comments(text, Notation::Toml);
    Some(sequence(text, &comments, list)?.remove(index))
}

/// Makes a sequence from the range of a list and the ends of its items.
fn sequence<'t>(
    text: &'t str,
    comments: &'t [Range<usize>],
    list: ListLayout,
) -> Option<Sequence<'t>> {
    let (range, ends) = list;
    let range = range?;
    let mut at = range.start + 1;
    let mut items = Vec::new();
    for end in ends {
        // The parser does not return the start of a dotted key; only these can come before it.
        loop {
            at = text.len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
            match comments.iter().find(|comment| comment.start == at) {
                Some(comment) => at = comment.end,
                None => break,
            }
        }
        items.push(at..end);
        at = end;
    }
    Some(Sequence { text, comments, range, items })
}

/// Returns the entries of a table in the order of the text, with their dotted keys.
fn entries(table: &InlineTable) -> Vec<(Vec<String>, &Value)> {
    let mut entries: Vec<_> = table
        .get_values()
        .into_iter()
        .map(|(keys, value)| (keys.iter().map(|key| key.get().to_owned()).collect(), value))
        .collect();
    entries.sort_by_key(|(_, value)| value.span().map_or(0, |span| span.start));
    entries
}

fn ends(entries: &[(Vec<String>, &Value)]) -> Vec<usize> {
    entries.iter().filter_map(|(_, value)| Some(value.span()?.end)).collect()
}

fn elements(array: &Array) -> Vec<usize> {
    array.iter().filter_map(|value| Some(value.span()?.end)).collect()
}
