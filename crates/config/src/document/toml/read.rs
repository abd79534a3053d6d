//! Turns the tables of `toml_edit` into values with lines.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, TomlError, Value as TomlValue};

use super::depth;
use crate::document::lines::Lines;
use crate::document::{Key, MAX_DEPTH, Map, Node, Parsed, SyntaxError, Value};

/// Reads a text. Equal keys are an error in TOML, so none is ever reported as a duplicate.
pub(crate) fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let lines = Lines::new(text);
    depth::check(text, &lines)?;
    let document = Document::parse(text).map_err(|error| explain(&error, &lines))?;
    let reader = Reader { text, lines };
    let root = match document.iter().next() {
        None => Node::new(1, Value::Null),
        Some(_) => Node::new(1, reader.table(document.as_table(), Place { offset: 0, depth: 1 })?),
    };
    Ok(Parsed { root, duplicate_keys: Vec::new() })
}

/// Takes the bare message only: the error's `Display` quotes the line, which may hold a secret.
fn explain(error: &TomlError, lines: &Lines<'_>) -> SyntaxError {
    let offset = error.span().map_or(0, |span| span.start);
    match error.message() {
        message if message.contains("recursion") || message.contains("recurse") => {
            lines.error(offset, format!("nested more than {} levels deep", depth::PARSER_LIMIT))
        }
        message => lines.error(offset, message.trim_end_matches('.')),
    }
}

/// Where a value stands; tables that are only implied have no place of their own.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    depth: usize,
}

impl Place {
    fn inside(self, span: Option<Range<usize>>) -> Self {
        Self { offset: span.map_or(self.offset, |span| span.start), depth: self.depth + 1 }
    }
}

struct Reader<'text> {
    text: &'text str,
    lines: Lines<'text>,
}

impl Reader<'_> {
    fn table(&self, table: &dyn TableLike, place: Place) -> Result<Value, SyntaxError> {
        self.check_depth(place)?;
        let mut entries = Vec::with_capacity(table.len());
        for (text, item) in table.iter() {
            let span = table.key(text).and_then(toml_edit::Key::span);
            let at_key = Place { offset: span.map_or(place.offset, |span| span.start), ..place };
            let key = Key { text: text.to_owned(), line: self.lines.line(at_key.offset) };
            entries.push((key, self.item(item, at_key.inside(item.span()))?));
        }
        Ok(Value::Map(Map(entries)))
    }

    fn item(&self, item: &Item, place: Place) -> Result<Node, SyntaxError> {
        let value = match item {
            Item::None => Value::Null,
            Item::Value(value) => return self.value(value, place),
            Item::Table(table) => self.table(table, place)?,
            Item::ArrayOfTables(tables) => {
                self.check_depth(place)?;
                let mut items = Vec::with_capacity(tables.len());
                for table in tables {
                    let place = place.inside(table.span());
                    items.push(Node::new(self.line(place), self.table(table, place)?));
                }
                Value::List(items)
            }
        };
        Ok(Node::new(self.line(place), value))
    }

    fn value(&self, value: &TomlValue, place: Place) -> Result<Node, SyntaxError> {
        let read = match value {
            TomlValue::String(text) => Value::String(text.value().clone()),
            TomlValue::Boolean(truth) => Value::Bool(*truth.value()),
            TomlValue::Integer(number) => Value::Number(self.raw(number.span())),
            TomlValue::Float(number) => Value::Number(self.raw(number.span())),
            TomlValue::Datetime(date) => Value::String(self.raw(date.span())),
            TomlValue::InlineTable(table) => self.table(table, place)?,
            TomlValue::Array(array) => {
                self.check_depth(place)?;
                let items = array.iter().map(|item| self.value(item, place.inside(item.span())));
                Value::List(items.collect::<Result<_, _>>()?)
            }
        };
        Ok(Node::new(self.line(place), read))
    }

    fn check_depth(&self, place: Place) -> Result<(), SyntaxError> {
        if place.depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(self.lines.error(place.offset, format!("nested more than {MAX_DEPTH} levels deep")))
    }

    fn raw(&self, span: Option<Range<usize>>) -> String {
        span.and_then(|span| self.text.get(span)).unwrap_or_default().to_owned()
    }

    fn line(&self, place: Place) -> u32 {
        self.lines.line(place.offset)
    }
}
