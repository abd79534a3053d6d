//! Applies changes to JSON with comments.

use std::ops::Range;

use super::change::{Change, EditError};
use super::json_value::JsonValue;
use super::json_write::{MultilineWriter, quote, wrap, write_line};
use super::sequence::{Placement, Sequence};
use super::source_text::{self, Splices};
use super::tree::{self, Member, Shape, Tree};
use crate::document::Notation;

/// Applies one change.
pub(super) fn change(text: &str, change: &Change) -> Result<String, EditError> {
    match change {
        Change::Set { path, value } => JsonFile::read(text)?.set(path, value),
        Change::Include { path, item } => JsonFile::read(text)?.include(path, item),
        Change::Remove { path } => repeat_until_done(text, |file| Ok(file.without(path))),
        Change::Exclude { path, item } => repeat_until_done(text, |file| file.exclude(path, item)),
    }
}

/// Repeats a step until it does nothing: keys and items may occur several times.
fn repeat_until_done(
    text: &str,
    step: impl Fn(&JsonFile<'_>) -> Result<Option<String>, EditError>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    while let Some(next) = step(&JsonFile::read(&text)?)? {
        text = next;
    }
    Ok(text)
}

struct JsonFile<'t> {
    text: &'t str,
    root: Option<Tree>,
    comments: Vec<Range<usize>>,
}

/// What a path leads to.
enum PathTarget<'t> {
    /// A value.
    Value(&'t Member),
    /// An object without the key at index `depth` of the path.
    Absent { parent: &'t Tree, depth: usize },
    /// A null instead of an object with the key at index `depth`.
    Null { null: &'t Tree, depth: usize },
}

/// How a value is written.
enum ValueStyle {
    /// On several lines with this indentation.
    Lines { indentation: String },
    /// On one line.
    Line { colon: &'static str, comma: &'static str },
}

impl<'t> JsonFile<'t> {
    fn read(text: &'t str) -> Result<Self, EditError> {
        let comments = source_text::comments(text, Notation::Json);
        Ok(Self { text, root: tree::of_json(text)?, comments })
    }

    fn set(&self, path: &[String], value: &JsonValue) -> Result<String, EditError> {
        let Some(root) = &self.root else {
            return Ok(self.begin(&wrap(path, value)));
        };
        let mut splices = Splices::default();
        match self.locate(root, path)? {
            PathTarget::Value(member) if member.value.to_value() == *value => {}
            PathTarget::Value(member) => {
                let written = self.render(value, &self.style_of(&member.value, member.range.start));
                splices.replace(member.value.range.clone(), written);
            }
            PathTarget::Null { null, depth } => {
                let style = self.style_of(null, null.range.start);
                splices
                    .replace(null.range.clone(), self.render(&wrap(&path[depth..], value), &style));
            }
            PathTarget::Absent { .. } if self.is_bare() => {
                let mut whole = root.to_value();
                put(&mut whole, path, value);
                let style = ValueStyle::Lines { indentation: String::new() };
                splices.replace(root.range.clone(), self.render(&whole, &style));
            }
            PathTarget::Absent { parent, depth } => {
                return Ok(self.append_member(
                    parent,
                    &path[depth],
                    &wrap(&path[depth + 1..], value),
                ));
            }
        }
        Ok(splices.apply(self.text))
    }

    /// Returns the text without the last member at the path, if there is one.
    fn without(&self, path: &[String]) -> Option<String> {
        let (key, parents) = path.split_last()?;
        let parent = parents
            .iter()
            .try_fold(self.root.as_ref()?, |tree, key| Some(&tree.member(key)?.value))?;
        let index = parent.members().iter().rposition(|member| member.key == *key)?;
        Some(self.sequence(parent).remove(index))
    }

    fn include(&self, path: &[String], item: &str) -> Result<String, EditError> {
        let Some((list, items)) = self.list(path)? else {
            return self.set(path, &JsonValue::Array(vec![item.into()]));
        };
        if items.iter().any(|own| is_text(own, item)) {
            return Ok(self.text.to_owned());
        }
        let sequence = self.sequence(list);
        let placement = sequence
            .placement(self.indentation_unit(), self.comma())
            .unwrap_or(Placement::SameLine(""));
        Ok(sequence.append(&placement, &quote(item), ""))
    }

    /// Returns the text without the last occurrence of an item in a list, if there is one.
    fn exclude(&self, path: &[String], item: &str) -> Result<Option<String>, EditError> {
        let Some((list, items)) = self.list(path)? else { return Ok(None) };
        let index = items.iter().rposition(|own| is_text(own, item));
        Ok(index.map(|index| self.sequence(list).remove(index)))
    }

    /// Returns the list at a path; `None` if it is missing or null.
    fn list(&self, path: &[String]) -> Result<Option<(&Tree, &[Tree])>, EditError> {
        let Some(root) = &self.root else { return Ok(None) };
        let PathTarget::Value(member) = self.locate(root, path)? else { return Ok(None) };
        match &member.value.shape {
            Shape::List(items) => Ok(Some((&member.value, items))),
            Shape::Null => Ok(None),
            _ => Err(EditError::NotAList {
                path: path.join("."),
                found: member.value.kind(),
                line: Some(source_text::line_number(self.text, member.value.range.start)),
            }),
        }
    }

    fn locate<'r>(&self, root: &'r Tree, path: &[String]) -> Result<PathTarget<'r>, EditError> {
        let mut tree = root;
        for (depth, key) in path.iter().enumerate() {
            match (&tree.shape, tree.member(key)) {
                (Shape::Map(_), Some(member)) if depth + 1 == path.len() => {
                    return Ok(PathTarget::Value(member));
                }
                (Shape::Map(_), Some(member)) => tree = &member.value,
                (Shape::Map(_), None) => return Ok(PathTarget::Absent { parent: tree, depth }),
                (Shape::Null, _) => return Ok(PathTarget::Null { null: tree, depth }),
                _ => {
                    return Err(EditError::NotAnObject {
                        path: path[..depth].join("."),
                        found: tree.kind(),
                        line: Some(source_text::line_number(self.text, tree.range.start)),
                    });
                }
            }
        }
        Err(EditError::NoKey)
    }

    /// Returns the text of a file that had no value: its comments, then the value.
    fn begin(&self, value: &JsonValue) -> String {
        let newline = source_text::line_ending(self.text);
        let comments = &self.text[..source_text::trimmed_length(self.text)];
        let gap = if comments.is_empty() { "" } else { newline };
        let object = self.render(value, &ValueStyle::Lines { indentation: String::new() });
        format!("{comments}{gap}{object}{newline}")
    }

    fn append_member(&self, parent: &Tree, key: &str, value: &JsonValue) -> String {
        let sequence = self.sequence(parent);
        let unit = self.indentation_unit();
        let colon = self.colon(parent);
        let placement = sequence.placement(unit, self.comma()).unwrap_or_else(|| {
            if self.is_one_line() {
                Placement::SameLine("")
            } else {
                let outer = source_text::indentation(self.text, parent.range.start);
                Placement::OwnLine(format!("{outer}{unit}"))
            }
        });
        let (style, colon) = match &placement {
            Placement::OwnLine(indentation) => {
                (ValueStyle::Lines { indentation: indentation.clone() }, ": ")
            }
            Placement::SameLine(_) => (ValueStyle::Line { colon, comma: self.comma() }, colon),
        };
        let item = format!("{}{colon}{}", quote(key), self.render(value, &style));
        sequence.append(&placement, &item, "")
    }

    fn sequence(&self, tree: &Tree) -> Sequence<'_> {
        let items = match &tree.shape {
            Shape::Map(members) => members.iter().map(|member| member.range.clone()).collect(),
            Shape::List(items) => items.iter().map(|item| item.range.clone()).collect(),
            _ => Vec::new(),
        };
        Sequence { text: self.text, comments: &self.comments, range: tree.range.clone(), items }
    }

    /// Returns the style for a value that replaces another one, whose entry begins at `start`.
    fn style_of(&self, old: &Tree, start: usize) -> ValueStyle {
        let is_filled = match &old.shape {
            Shape::Map(members) => !members.is_empty(),
            Shape::List(items) => !items.is_empty(),
            _ => false,
        };
        let has_lines = self.text[old.range.clone()].contains('\n');
        if has_lines || !is_filled && source_text::is_first_on_line(self.text, start) {
            let indentation = source_text::indentation(self.text, start).to_owned();
            ValueStyle::Lines { indentation }
        } else {
            ValueStyle::Line { colon: self.colon(old), comma: self.comma() }
        }
    }

    fn render(&self, value: &JsonValue, style: &ValueStyle) -> String {
        let mut out = String::new();
        match style {
            ValueStyle::Line { colon, comma } => write_line(&mut out, value, colon, comma),
            ValueStyle::Lines { indentation } => {
                let lines = MultilineWriter {
                    newline: source_text::line_ending(self.text),
                    unit: self.indentation_unit(),
                };
                lines.write(&mut out, value, indentation);
            }
        }
        out
    }

    /// Returns the indentation of one level, from the first indented value; else two spaces.
    fn indentation_unit(&self) -> &str {
        self.root.as_ref().and_then(|root| self.unit_in(root)).unwrap_or("  ")
    }

    fn unit_in(&self, tree: &Tree) -> Option<&str> {
        let outer = source_text::indentation(self.text, tree.range.start);
        let own = |start: usize| {
            let inner = source_text::indentation(self.text, start);
            let unit = inner.strip_prefix(outer).filter(|unit| !unit.is_empty())?;
            source_text::is_first_on_line(self.text, start).then_some(unit)
        };
        match &tree.shape {
            Shape::Map(members) => members
                .iter()
                .find_map(|member| own(member.range.start).or_else(|| self.unit_in(&member.value))),
            Shape::List(items) => {
                items.iter().find_map(|item| own(item.range.start).or_else(|| self.unit_in(item)))
            }
            _ => None,
        }
    }

    /// Returns the separator of keys and values on one line, as in `near` or else in the root.
    fn colon(&self, near: &Tree) -> &'static str {
        let member = near
            .members()
            .last()
            .or_else(|| self.root.as_ref().and_then(|root| root.members().last()));
        let is_tight =
            |member: &Member| &self.text[member.key_end..member.value.range.start] == ":";
        if member.is_some_and(is_tight) { ":" } else { ": " }
    }

    fn comma(&self) -> &'static str {
        let colon = self.root.as_ref().map_or(": ", |root| self.colon(root));
        if colon == ":" { "" } else { " " }
    }

    fn is_one_line(&self) -> bool {
        self.root.as_ref().is_some_and(|root| !self.text[root.range.clone()].contains('\n'))
    }

    /// Tells whether the file is one line with only keys, such as `{"mcpServers":{}}`. It has no
    /// formatting to keep, so it may be reformatted.
    fn is_bare(&self) -> bool {
        self.is_one_line()
            && self.comments.is_empty()
            && self.root.as_ref().is_some_and(holds_only_keys)
    }
}

fn put(whole: &mut JsonValue, path: &[String], value: &JsonValue) {
    let Some((key, rest)) = path.split_first() else { return };
    match whole.as_object_mut().and_then(|members| members.get_mut(key)) {
        Some(inner) if !rest.is_empty() => put(inner, rest, value),
        _ => {
            if let JsonValue::Object(members) = whole {
                members.insert(key.clone(), wrap(rest, value));
            }
        }
    }
}

fn holds_only_keys(tree: &Tree) -> bool {
    match &tree.shape {
        Shape::Map(members) => members.iter().all(|member| holds_only_keys(&member.value)),
        Shape::List(items) => items.is_empty(),
        _ => false,
    }
}

fn is_text(tree: &Tree, text: &str) -> bool {
    matches!(&tree.shape, Shape::String(own) if own == text)
}
