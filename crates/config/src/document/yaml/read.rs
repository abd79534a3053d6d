//! Builds a value from the events of the YAML parser, without recursion.
//!
//! The full weight of an alias is counted before it is accepted. A value that comes from an alias
//! has the line of its anchor, not the line of the alias.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::error_message;
use super::shared_value::{self, SharedEntry, SharedValue};
use crate::document::line_index::{LineIndex, to_u32};
use crate::document::unique_keys::keep_last;
use crate::document::{
    DuplicateKey, Key, MAX_DEPTH, MAX_YAML_NODES, Node, ParsedDocument, SyntaxError, Value,
};

/// Parses the first document of a text; an empty one is null on line 1.
pub(crate) fn parse(text: &str) -> Result<ParsedDocument, SyntaxError> {
    let mut reader = YamlReader::new(text);
    let mut is_complete = false;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            reader.error(*error.marker(), error_message::for_parser_message(error.info()))
        })?;
        // Also read the event after the document: only then the parser reports text that follows
        // and is not a second document.
        if is_complete {
            break;
        }
        is_complete = matches!(event, Event::DocumentEnd);
        reader.take(event, span.start)?;
    }
    Ok(reader.finish())
}

struct YamlReader<'text> {
    open: Vec<Container<'text>>,
    anchors: HashMap<usize, Rc<SharedValue<'text>>>,
    /// The total weight of all aliases so far.
    copied: usize,
    root: Option<Rc<SharedValue<'text>>>,
    duplicate_keys: Vec<DuplicateKey>,
    /// The position of the end of the text, as an error without a message.
    end: SyntaxError,
}

/// A scalar as the parser describes it.
struct Scalar<'text> {
    text: Cow<'text, str>,
    style: ScalarStyle,
    anchor: usize,
    has_tag: bool,
}

/// An open list or object.
struct Container<'text> {
    line: u32,
    anchor: usize,
    content: Content<'text>,
}

enum Content<'text> {
    List(Vec<Rc<SharedValue<'text>>>),
    Map {
        entries: Vec<SharedEntry<'text>>,
        merged: Vec<Rc<SharedValue<'text>>>,
        key: Option<PendingKey>,
    },
}

/// A key that waits for its value.
enum PendingKey {
    Named(Key),
    Merge,
}

impl<'text> YamlReader<'text> {
    fn new(text: &'text str) -> Self {
        Self {
            open: Vec::new(),
            anchors: HashMap::new(),
            copied: 0,
            root: None,
            duplicate_keys: Vec::new(),
            end: LineIndex::new(text).error(text.len(), ""),
        }
    }

    fn take(&mut self, event: Event<'text>, mark: Marker) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.take_scalar(Scalar { text, style, anchor, has_tag: tag.is_some() }, mark)
            }
            Event::Alias(anchor) => self.take_alias(anchor, mark),
            Event::SequenceStart(anchor, _) => self.open(Content::List(Vec::new()), anchor, mark),
            Event::MappingStart(anchor, _) => {
                let (entries, merged) = (Vec::new(), Vec::new());
                self.open(Content::Map { entries, merged, key: None }, anchor, mark)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(mark),
            _ => Ok(()),
        }
    }

    fn finish(self) -> ParsedDocument {
        let Self { anchors, root, mut duplicate_keys, .. } = self;
        // A value can be moved instead of copied only if no anchor refers to it.
        drop(anchors);
        duplicate_keys.sort_by_key(|duplicate| duplicate.line);
        let root = root.map_or(Node::new(1, Value::Null), SharedValue::unfold);
        ParsedDocument { root, duplicate_keys }
    }

    fn take_scalar(&mut self, scalar: Scalar<'text>, mark: Marker) -> Result<(), SyntaxError> {
        let is_plain = scalar.style == ScalarStyle::Plain;
        if is_plain && self.awaits_key() && scalar.text == "<<" {
            self.set_key(PendingKey::Merge);
            return Ok(());
        }
        let line = self.line_of_scalar(&scalar, mark);
        let value = Rc::new(SharedValue::scalar(line, scalar.text, is_plain));
        self.remember(scalar.anchor, &value);
        self.place(value, mark)
    }

    /// Corrects the line of two kinds of scalars: the parser puts an omitted one at the next token,
    /// and one after `|` or `>` at its first line of text.
    fn line_of_scalar(&self, scalar: &Scalar<'text>, mark: Marker) -> u32 {
        let is_omitted = scalar.style == ScalarStyle::Plain && scalar.text.is_empty();
        let is_block = matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded);
        let is_marked = scalar.anchor != 0 || scalar.has_tag;
        let line = self.line(mark);
        if is_marked || !(is_omitted || is_block) {
            return line;
        }
        match self.open.last().map(|container| &container.content) {
            Some(Content::Map { key: Some(PendingKey::Named(key)), .. }) => key.line,
            None if is_omitted => 1,
            _ if is_block && !scalar.text.is_empty() => line.saturating_sub(1).max(1),
            _ => line,
        }
    }

    fn take_alias(&mut self, anchor: usize, mark: Marker) -> Result<(), SyntaxError> {
        let Some(value) = self.anchors.get(&anchor).map(Rc::clone) else {
            return Err(self.error(mark, "an alias refers to the value that contains it"));
        };
        self.copied = self.copied.saturating_add(value.weight);
        if self.copied > MAX_YAML_NODES {
            let message = format!("aliases unfold to more than {MAX_YAML_NODES} values");
            return Err(self.error(mark, message));
        }
        self.check_depth(self.open.len() + value.height, mark)?;
        self.place(value, mark)
    }

    fn open(
        &mut self,
        content: Content<'text>,
        anchor: usize,
        mark: Marker,
    ) -> Result<(), SyntaxError> {
        if self.awaits_key() {
            return Err(self.error(mark, error_message::COMPLEX_KEY));
        }
        self.check_depth(self.open.len() + 1, mark)?;
        self.open.push(Container { line: self.line(mark), anchor, content });
        Ok(())
    }

    fn close(&mut self, mark: Marker) -> Result<(), SyntaxError> {
        let Some(Container { line, anchor, content }) = self.open.pop() else {
            return Ok(());
        };
        let value = Rc::new(match content {
            Content::List(items) => SharedValue::list(line, items),
            Content::Map { entries, merged, .. } => {
                let mut entries = keep_last(entries, &mut self.duplicate_keys);
                if !merged.is_empty() {
                    shared_value::merge(&mut entries, &merged);
                }
                SharedValue::map(line, entries)
            }
        });
        self.remember(anchor, &value);
        self.place(value, mark)
    }

    fn place(&mut self, value: Rc<SharedValue<'text>>, mark: Marker) -> Result<(), SyntaxError> {
        let line = self.line(mark);
        let Some(container) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match &mut container.content {
            Content::List(items) => items.push(value),
            Content::Map { entries, merged, key } => match key.take() {
                Some(PendingKey::Named(name)) => entries.push((name, value)),
                Some(PendingKey::Merge) => match value.merge_sources() {
                    Some(sources) => merged.extend(sources),
                    None => return Err(self.error(mark, error_message::INVALID_MERGE_SOURCE)),
                },
                None => match value.as_text() {
                    Some(text) => {
                        let text = text.to_owned();
                        *key = Some(PendingKey::Named(Key { text, line }));
                    }
                    None => return Err(self.error(mark, error_message::COMPLEX_KEY)),
                },
            },
        }
        Ok(())
    }

    /// Stores the value of an anchor. Anchors are numbered from 1; 0 means no anchor.
    fn remember(&mut self, anchor: usize, value: &Rc<SharedValue<'text>>) {
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(value));
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Container { content: Content::Map { key: None, .. }, .. }))
    }

    fn set_key(&mut self, pending: PendingKey) {
        if let Some(Container { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(pending);
        }
    }

    fn check_depth(&self, depth: usize, mark: Marker) -> Result<(), SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(mark, error_message::nested_too_deep()));
        }
        Ok(())
    }

    /// Returns the line. At the end of a text without a final line end, the parser is one line off.
    fn line(&self, mark: Marker) -> u32 {
        to_u32(mark.line()).min(self.end.line)
    }

    fn error(&self, mark: Marker, message: impl Into<String>) -> SyntaxError {
        let message = message.into();
        if to_u32(mark.line()) > self.end.line {
            return SyntaxError { message, ..self.end };
        }
        SyntaxError { line: to_u32(mark.line()), column: to_u32(mark.col() + 1), message }
    }
}
