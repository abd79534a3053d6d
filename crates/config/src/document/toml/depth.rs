//! Refuses texts whose tables would be nested so deep that dropping them overflows the stack.
//!
//! `toml_edit` allows 80 brackets in each other and 80 names in a key, but does not see that both
//! multiply: dotted keys in nested inline tables make thousands of levels out of a few kilobytes.
//! So the levels are counted on the tokens first. The count is never too low, and a little too high
//! at times; the exact limit is checked when the tables are read.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::document::line_index::LineIndex;
use crate::document::{MAX_DEPTH, SyntaxError};

/// What `toml_edit` allows for the names of one key, and for brackets.
pub(super) const PARSER_LIMIT: usize = 80;

/// Far above what is allowed, because the count is too high at times; far below what is dangerous.
const LIMIT: usize = 4 * MAX_DEPTH;

/// Counts the levels before anything is built.
pub(super) fn check(text: &str, lines: &LineIndex<'_>) -> Result<(), SyntaxError> {
    let mut levels = NestingCounter::default();
    for token in Source::new(text).lex() {
        levels.take(token.kind());
        let message = if levels.dots >= PARSER_LIMIT {
            format!("a key has more than {PARSER_LIMIT} names")
        } else if levels.total() > LIMIT {
            format!("nested more than {MAX_DEPTH} levels deep")
        } else {
            continue;
        };
        return Err(lines.error(token.span().start(), message));
    }
    Ok(())
}

#[derive(Default)]
struct NestingCounter {
    /// The levels that the last `[header]` opens.
    header: usize,
    /// Each open bracket with what closes it and the dots before it: each dot is one more table.
    open: Vec<(TokenKind, usize)>,
    /// The sum of the dots in `open`.
    open_dots: usize,
    /// The dots since the last bracket, comma or line.
    dots: usize,
    /// Whether a line has a `=` already; a bracket before it opens a header.
    has_value: bool,
}

impl NestingCounter {
    fn take(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::Dot => self.dots += 1,
            TokenKind::Comma => self.dots = 0,
            TokenKind::Equals => self.has_value = true,
            TokenKind::LeftSquareBracket => self.open(TokenKind::RightSquareBracket),
            TokenKind::LeftCurlyBracket => self.open(TokenKind::RightCurlyBracket),
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => self.close(kind),
            TokenKind::Newline if self.open.is_empty() => {
                self.dots = 0;
                self.has_value = false;
            }
            _ => {}
        }
    }

    fn open(&mut self, closing: TokenKind) {
        if self.open.is_empty() && !self.has_value {
            self.header = 0;
        }
        self.open_dots += self.dots;
        self.open.push((closing, self.dots));
        self.dots = 0;
    }

    fn close(&mut self, kind: TokenKind) {
        if !self.has_value {
            // Each name of `[[a.b]]` may stand for a list and a table.
            self.header = self.header.max(2 * (self.dots + 1));
        }
        // The parser goes on after a bracket of the wrong kind as if it were not there.
        if let Some((_, dots)) = self.open.pop_if(|(closing, _)| *closing == kind) {
            self.open_dots -= dots;
            self.dots = 0;
        }
    }

    fn total(&self) -> usize {
        self.header + self.open.len() + self.open_dots + self.dots
    }
}
