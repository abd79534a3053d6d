//! Rejects texts with tables nested so deep that dropping them would overflow the stack.
//!
//! `toml_edit` limits nested brackets to 80 and names in a key to 80, but not their product: dotted
//! keys in nested inline tables make thousands of levels from a few kilobytes. So the levels are
//! counted on the tokens before parsing. The count is never too low, sometimes a little too high;
//! the exact limit is checked when the tables are read.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::document::line_index::LineIndex;
use crate::document::{MAX_DEPTH, SyntaxError};

/// The limit of `toml_edit` for names of a key, and for nested brackets.
pub(super) const PARSER_LIMIT: usize = 80;

/// Far above the allowed depth, because the count may be too high; far below a stack overflow.
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
    /// Each open bracket with its closing token and the dots before it: each dot is a table.
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
        // The parser ignores a closing bracket of the wrong kind.
        if let Some((_, dots)) = self.open.pop_if(|(closing, _)| *closing == kind) {
            self.open_dots -= dots;
            self.dots = 0;
        }
    }

    fn total(&self) -> usize {
        self.header + self.open.len() + self.open_dots + self.dots
    }
}
