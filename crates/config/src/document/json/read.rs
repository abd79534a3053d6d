//! Parses tokens into a value without recursion, so that nesting uses no thread stack.

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::error_message;
use crate::document::line_index::LineIndex;
use crate::document::unique_keys::keep_last;
use crate::document::{
    DuplicateKey, Key, MAX_DEPTH, Map, Node, ParsedDocument, SyntaxError, Value,
};

/// Comments and trailing commas are the only extensions of JSON; both are handled here.
const STRICT: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text; an empty one is null on line 1.
pub(crate) fn parse(text: &str) -> Result<ParsedDocument, SyntaxError> {
    let mut reader = JsonReader {
        text,
        lines: LineIndex::new(text),
        scanner: Scanner::new(text, &STRICT),
        scanned: 0,
        last_end: 0,
        open: Vec::new(),
        root: None,
        duplicate_keys: Vec::new(),
    };
    let mut expected = ExpectedToken::Value;
    while let Some(token) = reader.next_token()? {
        expected = reader.take(expected, token)?;
    }
    reader.finish()
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedToken {
    /// A value.
    Value,
    /// A value, or the end of the list.
    Item,
    /// A key, or the end of the object.
    Key,
    /// The colon after a key.
    Colon,
    /// A comma, or the end of the list or object.
    Comma,
    /// Nothing: the value is complete.
    Nothing,
}

/// An open list or object.
struct Container {
    line: u32,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Key> },
}

struct JsonReader<'text> {
    text: &'text str,
    lines: LineIndex<'text>,
    scanner: Scanner<'text>,
    /// The end of what was scanned, comments included.
    scanned: usize,
    /// The end of the last token that is not a comment.
    last_end: usize,
    open: Vec<Container>,
    root: Option<Node>,
    duplicate_keys: Vec<DuplicateKey>,
}

impl<'text> JsonReader<'text> {
    fn next_token(&mut self) -> Result<Option<Token<'text>>, SyntaxError> {
        loop {
            let token = self.scanner.scan().map_err(|error| {
                let offset = error.range().start;
                let rest = self.text.get(offset..).unwrap_or_default();
                self.lines.error(offset, error_message::for_scanner_error(error.kind(), rest))
            })?;
            let start = self.scanner.token_start();
            self.check_space(start)?;
            self.scanned = self.scanner.token_end();
            match token {
                Some(Token::CommentLine(_) | Token::CommentBlock(_)) => {}
                token => return Ok(token),
            }
        }
    }

    fn take(
        &mut self,
        expected: ExpectedToken,
        token: Token<'text>,
    ) -> Result<ExpectedToken, SyntaxError> {
        let takes_value = matches!(expected, ExpectedToken::Value | ExpectedToken::Item);
        let next = match token {
            Token::OpenBrace if takes_value => {
                self.open(Content::Map { entries: Vec::new(), key: None })?
            }
            Token::OpenBracket if takes_value => self.open(Content::List(Vec::new()))?,
            Token::CloseBrace if self.may_close(expected, ExpectedToken::Key) => self.close(),
            Token::CloseBracket if self.may_close(expected, ExpectedToken::Item) => self.close(),
            Token::Comma if expected == ExpectedToken::Comma => self.in_container(),
            Token::Colon if expected == ExpectedToken::Colon => ExpectedToken::Value,
            Token::String(text) if expected == ExpectedToken::Key => {
                self.check_string()?;
                self.set_key(text.into_owned())
            }
            Token::String(text) if takes_value => {
                self.check_string()?;
                self.place_scalar(Value::String(text.into_owned()))
            }
            Token::Number(digits) if takes_value => {
                self.place_scalar(Value::Number(digits.to_owned()))
            }
            Token::Boolean(truth) if takes_value => self.place_scalar(Value::Bool(truth)),
            Token::Null if takes_value => self.place_scalar(Value::Null),
            token => return Err(self.refuse(expected, &token)),
        };
        self.last_end = self.scanner.token_end();
        Ok(next)
    }

    fn finish(mut self) -> Result<ParsedDocument, SyntaxError> {
        if let Some(container) = self.open.last() {
            let kind = match container.content {
                Content::List(_) => "list",
                Content::Map { .. } => "object",
            };
            let message = format!("the file ends inside the {kind} of line {}", container.line);
            return Err(self.lines.error(self.text.trim_end().len(), message));
        }
        // Inner objects are closed, and so reported, before outer ones.
        self.duplicate_keys.sort_by_key(|duplicate| duplicate.line);
        let root = self.root.unwrap_or(Node::new(1, Value::Null));
        Ok(ParsedDocument { root, duplicate_keys: self.duplicate_keys })
    }

    fn open(&mut self, content: Content) -> Result<ExpectedToken, SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.lines.error(self.scanner.token_start(), message));
        }
        self.open.push(Container { line: self.line(), content });
        Ok(self.in_container())
    }

    fn may_close(&self, expected: ExpectedToken, kind: ExpectedToken) -> bool {
        expected == kind || (expected == ExpectedToken::Comma && self.in_container() == kind)
    }

    fn close(&mut self) -> ExpectedToken {
        let Some(Container { line, content }) = self.open.pop() else {
            return ExpectedToken::Nothing;
        };
        let value = match content {
            Content::List(items) => Value::List(items),
            Content::Map { entries, .. } => {
                Value::Map(Map(keep_last(entries, &mut self.duplicate_keys)))
            }
        };
        self.place(Node::new(line, value))
    }

    fn set_key(&mut self, text: String) -> ExpectedToken {
        let line = self.line();
        if let Some(Container { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(Key { text, line });
        }
        ExpectedToken::Colon
    }

    fn place_scalar(&mut self, value: Value) -> ExpectedToken {
        self.place(Node::new(self.line(), value))
    }

    fn place(&mut self, node: Node) -> ExpectedToken {
        match self.open.last_mut().map(|container| &mut container.content) {
            None => {
                self.root = Some(node);
                ExpectedToken::Nothing
            }
            Some(Content::List(items)) => {
                items.push(node);
                ExpectedToken::Comma
            }
            Some(Content::Map { entries, key }) => {
                entries.extend(key.take().map(|key| (key, node)));
                ExpectedToken::Comma
            }
        }
    }

    /// Returns what may come at the start of the innermost container, or after a comma in it.
    fn in_container(&self) -> ExpectedToken {
        match self.open.last().map(|container| &container.content) {
            None => ExpectedToken::Nothing,
            Some(Content::List(_)) => ExpectedToken::Item,
            Some(Content::Map { .. }) => ExpectedToken::Key,
        }
    }

    fn line(&self) -> u32 {
        self.lines.line(self.scanner.token_start())
    }

    fn refuse(&self, expected: ExpectedToken, token: &Token<'_>) -> SyntaxError {
        let message = error_message::for_misplaced_token(expected, self.in_container(), token);
        // Report a missing comma where the last value ends, not where the next one begins.
        let offset = match message {
            error_message::MISSING_COMMA => self.last_end,
            _ => self.scanner.token_start(),
        };
        self.lines.error(offset, message)
    }

    /// Rejects Unicode white space, which the scanner skips: JSON allows only four characters.
    fn check_space(&self, end: usize) -> Result<(), SyntaxError> {
        let space = self.text.get(self.scanned..end).unwrap_or_default();
        match space.char_indices().find(|(_, c)| !matches!(c, ' ' | '\t' | '\r' | '\n')) {
            None => Ok(()),
            Some((index, character)) => {
                let message = format!(
                    "the white space character U+{:04X} is not allowed here",
                    u32::from(character)
                );
                Err(self.lines.error(self.scanned + index, message))
            }
        }
    }

    /// Rejects line ends and control characters, which the scanner accepts: JSON requires escapes.
    fn check_string(&self) -> Result<(), SyntaxError> {
        let start = self.scanner.token_start();
        let raw = self.text.as_bytes().get(start..self.scanner.token_end()).unwrap_or_default();
        match raw.iter().position(|byte| *byte < b' ') {
            None => Ok(()),
            Some(index) if matches!(raw[index], b'\n' | b'\r') => {
                Err(self.lines.error(start, "the closing quote of this string is missing"))
            }
            Some(index) => {
                let message = "a control character inside a string must be escaped";
                Err(self.lines.error(start + index, message))
            }
        }
    }
}
