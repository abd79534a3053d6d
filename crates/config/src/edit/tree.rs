//! The values of a text with their byte ranges, for editing and redacting.
//!
//! Unlike [`crate::document::Node`] it has byte ranges instead of lines, and keeps duplicate keys.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use toml_edit::{Document, Item, Table, TableLike};

use super::change::EditError;
use super::json_value::JsonValue;
use crate::document::SyntaxError;

/// A value and its byte range.
pub(super) struct Tree {
    pub(super) range: Range<usize>,
    pub(super) shape: Shape,
}

/// The content of a value.
pub(super) enum Shape {
    Null,
    Bool(bool),
    /// A number or a date, with the digits of the file.
    Number(String),
    String(String),
    List(Vec<Tree>),
    Map(Vec<Member>),
}

/// A key and its value.
pub(super) struct Member {
    pub(super) range: Range<usize>,
    pub(super) key_end: usize,
    pub(super) key: String,
    pub(super) value: Tree,
}

impl Tree {
    /// Returns the member under a key; of duplicates, the last one, which is used.
    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// Returns the members; empty if it is not a map.
    pub(super) fn members(&self) -> &[Member] {
        match &self.shape {
            Shape::Map(members) => members,
            _ => &[],
        }
    }

    /// Names the kind of value, with its article, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Null => "null",
            Shape::Bool(_) => "true or false",
            Shape::Number(_) => "a number",
            Shape::String(_) => "a string",
            Shape::List(_) => "a list",
            Shape::Map(_) => "an object",
        }
    }

    /// Converts to a JSON value.
    pub(super) fn to_value(&self) -> JsonValue {
        match &self.shape {
            Shape::Null => JsonValue::Null,
            Shape::Bool(truth) => JsonValue::Bool(*truth),
            Shape::Number(digits) => JsonValue::number(digits),
            Shape::String(text) => JsonValue::String(text.clone()),
            Shape::List(items) => items.iter().map(Self::to_value).collect(),
            Shape::Map(members) => {
                members.iter().map(|member| (member.key.clone(), member.value.to_value())).collect()
            }
        }
    }
}

/// Parses JSON with comments; `None` if it has no value.
pub(super) fn of_json(text: &str) -> Result<Option<Tree>, EditError> {
    // A list without commas cannot be edited reliably; other extensions of the parser can.
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options).map_err(
        |error| {
            EditError::Syntax(SyntaxError {
                line: u32::try_from(error.line_display()).unwrap_or(u32::MAX),
                column: u32::try_from(error.column_display()).unwrap_or(u32::MAX),
                message: error.kind().to_string().to_lowercase(),
            })
        },
    )?;
    Ok(parsed.value.as_ref().map(json_value))
}

fn json_value(value: &ast::Value<'_>) -> Tree {
    let range = value.range();
    let shape = match value {
        ast::Value::NullKeyword(_) => Shape::Null,
        ast::Value::BooleanLit(literal) => Shape::Bool(literal.value),
        ast::Value::NumberLit(literal) => Shape::Number(literal.value.to_owned()),
        ast::Value::StringLit(literal) => Shape::String(literal.value.clone().into_owned()),
        ast::Value::Array(array) => Shape::List(array.elements.iter().map(json_value).collect()),
        ast::Value::Object(object) => Shape::Map(
            object
                .properties
                .iter()
                .map(|property| Member {
                    range: property.range.start..property.range.end,
                    key_end: property.name.end(),
                    key: property.name.as_str().to_owned(),
                    value: json_value(&property.value),
                })
                .collect(),
        ),
    };
    Tree { range: range.start..range.end, shape }
}

/// Parses TOML with the ranges of all items.
pub(super) fn toml_document(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        EditError::Syntax(SyntaxError {
            line: super::source_text::line_number(text, at),
            column: 1,
            message: "the text is not valid TOML".to_owned(),
        })
    })
}

/// Parses TOML. Tables have no range; their keys and values have one.
pub(super) fn of_toml(text: &str) -> Result<Tree, EditError> {
    let document = toml_document(text)?;
    Ok(Tree { range: 0..text.len(), shape: toml_table(document.as_table()) })
}

/// Converts a table to a tree.
pub(super) fn toml_table(table: &dyn TableLike) -> Shape {
    Shape::Map(
        table
            .iter()
            .map(|(key, item)| {
                let range = table.key(key).and_then(toml_edit::Key::span).unwrap_or_default();
                let value = toml_item(item);
                Member {
                    key_end: range.end,
                    range: range.start..value.range.end.max(range.end),
                    key: key.to_owned(),
                    value,
                }
            })
            .collect(),
    )
}

/// Converts an item to a tree.
pub(super) fn toml_item(item: &Item) -> Tree {
    let range = item.span().unwrap_or_default();
    let shape = match item {
        Item::None => Shape::Null,
        Item::Value(value) => return toml_value(value),
        Item::Table(table) => toml_table(table),
        Item::ArrayOfTables(tables) => Shape::List(tables.iter().map(toml_element).collect()),
    };
    Tree { range, shape }
}

fn toml_element(table: &Table) -> Tree {
    Tree { range: table.span().unwrap_or_default(), shape: toml_table(table) }
}

/// Converts a value to a tree.
pub(super) fn toml_value(value: &toml_edit::Value) -> Tree {
    let shape = match value {
        toml_edit::Value::String(text) => Shape::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Shape::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => Shape::Number(format!("{:?}", number.value())),
        toml_edit::Value::Boolean(truth) => Shape::Bool(*truth.value()),
        toml_edit::Value::Datetime(date) => Shape::Number(date.value().to_string()),
        toml_edit::Value::Array(array) => Shape::List(array.iter().map(toml_value).collect()),
        toml_edit::Value::InlineTable(table) => toml_table(table),
    };
    Tree { range: value.span().unwrap_or_default(), shape }
}
