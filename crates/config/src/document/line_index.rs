//! Converts byte offsets to lines and columns.
//!
//! The starts of all lines are found once; each lookup is a binary search. A line ends with LF,
//! CRLF or a lone CR, as in editors and YAML.

use super::SyntaxError;

/// The starts of the lines of a text.
pub(super) struct LineIndex<'text> {
    text: &'text str,
    /// Never empty: the first line begins at 0.
    starts: Vec<usize>,
}

impl<'text> LineIndex<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for offset in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_crlf = bytes[offset] == b'\r' && bytes.get(offset + 1) == Some(&b'\n');
            if !is_crlf {
                starts.push(offset + 1);
            }
        }
        Self { text, starts }
    }

    /// Returns the line of a byte, counted from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        to_u32(self.starts.partition_point(|start| *start <= offset))
    }

    /// Makes an error at a byte offset.
    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> SyntaxError {
        let line = self.line(offset);
        SyntaxError { line, column: self.column(offset), message: message.into() }
    }

    /// Counts characters, not bytes; an offset inside a character counts as its end.
    fn column(&self, offset: usize) -> u32 {
        let index = self.starts.partition_point(|start| *start <= offset);
        let start = index.checked_sub(1).and_then(|index| self.starts.get(index)).copied();
        let start = start.unwrap_or_default();
        let rest = self.text.get(start..).unwrap_or_default();
        let before = rest.char_indices().take_while(|(index, _)| start + index < offset).count();
        to_u32(before + 1)
    }
}

/// Converts a line or column to 32 bits; a text that needs more is far above the size limit.
pub(super) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[track_caller]
    fn check(text: &str, offset: usize, expected: (u32, u32)) {
        let error = LineIndex::new(text).error(offset, "");
        assert_eq!((error.line, error.column), expected);
    }

    #[test]
    fn an_empty_text_has_one_line() {
        check("", 0, (1, 1));
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        check("a\nb\r\nc\rd", 2, (2, 1));
        check("a\nb\r\nc\rd", 5, (3, 1));
        check("a\nb\r\nc\rd", 7, (4, 1));
    }

    #[test]
    fn a_line_end_belongs_to_the_line_it_ends() {
        check("ab\ncd", 2, (1, 3));
    }

    #[test]
    fn columns_are_characters() {
        check("é→😀x", "é→😀".len(), (1, 4));
        check("é→😀x", 3, (1, 3));
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        check("a\nbc", 99, (2, 3));
    }
}
