//! Converts the tables of `toml_edit` to values with line numbers.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, TomlError, Value as TomlValue};

use super::depth;
use crate::document::line_index::LineIndex;
use crate::document::{Key, MAX_DEPTH, Map, Node, ParsedDocument, SyntaxError, Value};

/// Parses a text. Duplicate keys are an error in TOML, so they are never returned as duplicates.
pub(crate) fn parse(text: &str) -> Result<ParsedDocument, SyntaxError> {
    let lines = LineIndex::new(text);
    depth::check(text, &lines)?;
    let document = Document::parse(text).map_err(|error| explain(&error, &lines))?;
    let reader = TomlReader { text, lines };
    let root = match document.iter().next() {
        None => Node::new(1, Value::Null),
        Some(_) => {
            Node::new(1, reader.table(document.as_table(), Position { offset: 0, depth: 1 })?)
        }
    };
    Ok(ParsedDocument { root, duplicate_keys: Vec::new() })
}

/// Uses only the bare message: the error's `Display` quotes the line, which may contain a secret.
fn explain(error: &TomlError, lines: &LineIndex<'_>) -> SyntaxError {
    let offset = error.span().map_or(0, |span| span.start);
    match error.message() {
        message if message.contains("recursion") || message.contains("recurse") => {
            lines.error(offset, format!("nested more than {} levels deep", depth::PARSER_LIMIT))
        }
        message => lines.error(offset, message.trim_end_matches('.')),
    }
}

/// The position of a value; implicit tables have the position of their parent.
#[derive(Clone, Copy)]
struct Position {
    offset: usize,
    depth: usize,
}

impl Position {
    fn inside(self, span: Option<Range<usize>>) -> Self {
        Self { offset: span.map_or(self.offset, |span| span.start), depth: self.depth + 1 }
    }
}

struct TomlReader<'text> {
    text: &'text str,
    lines: LineIndex<'text>,
}

impl TomlReader<'_> {
    fn table(&self, table: &dyn TableLike, position: Position) -> Result<Value, SyntaxError> {
        self.check_depth(position)?;
        let mut entries = Vec::with_capacity(table.len());
        for (text, item) in table.iter() {
            let span = table.key(text).and_then(toml_edit::Key::span);
            let at_key =
                Position { offset: span.map_or(position.offset, |span| span.start), ..position };
            let key = Key { text: text.to_owned(), line: self.lines.line(at_key.offset) };
            entries.push((key, self.item(item, at_key.inside(item.span()))?));
        }
        Ok(Value::Map(Map(entries)))
    }

    fn item(&self, item: &Item, position: Position) -> Result<Node, SyntaxError> {
        let value = match item {
            Item::None => Value::Null,
            Item::Value(value) => return self.value(value, position),
            Item::Table(table) => self.table(table, position)?,
            Item::ArrayOfTables(tables) => {
                self.check_depth(position)?;
                let mut items = Vec::with_capacity(tables.len());
                for table in tables {
                    let position = position.inside(table.span());
                    items.push(Node::new(self.line(position), self.table(table, position)?));
                }
                Value::List(items)
            }
        };
        Ok(Node::new(self.line(position), value))
    }

    fn value(&self, value: &TomlValue, position: Position) -> Result<Node, SyntaxError> {
        let read = match value {
            TomlValue::String(text) => Value::String(text.value().clone()),
            TomlValue::Boolean(truth) => Value::Bool(*truth.value()),
            TomlValue::Integer(number) => Value::Number(self.raw(number.span())),
            TomlValue::Float(number) => Value::Number(self.raw(number.span())),
            TomlValue::Datetime(date) => Value::String(self.raw(date.span())),
            TomlValue::InlineTable(table) => self.table(table, position)?,
            TomlValue::Array(array) => {
                self.check_depth(position)?;
                let items = array.iter().map(|item| self.value(item, position.inside(item.span())));
                Value::List(items.collect::<Result<_, _>>()?)
            }
        };
        Ok(Node::new(self.line(position), read))
    }

    fn check_depth(&self, position: Position) -> Result<(), SyntaxError> {
        if position.depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(self.lines.error(position.offset, format!("nested more than {MAX_DEPTH} levels deep")))
    }

    fn raw(&self, span: Option<Range<usize>>) -> String {
        span.and_then(|span| self.text.get(span)).unwrap_or_default().to_owned()
    }

    fn line(&self, position: Position) -> u32 {
        self.lines.line(position.offset)
    }
}
