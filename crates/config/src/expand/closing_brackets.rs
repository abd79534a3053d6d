//! Finds the closing brackets of placeholders in linear time.
//!
//! The text may be untrusted: a million opening braces must not cause a million searches.

use super::MAX_PLACEHOLDER_LENGTH;

/// The matching brackets of a text. They are searched on first use.
pub(super) struct ClosingBrackets<'a> {
    text: &'a str,
    /// Each `{` with its matching `}`, in the order of the opening braces.
    pairs: Option<Vec<(usize, usize)>>,
    /// The last search for a character: the character, the start, and the result.
    last: Option<(u8, usize, Option<usize>)>,
}

impl<'a> ClosingBrackets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, pairs: None, last: None }
    }

    /// Returns the `}` that matches the `{` at a position; a default may contain braces.
    pub(super) fn matching_brace(&mut self, open: usize) -> Option<usize> {
        let text = self.text;
        let pairs = self.pairs.get_or_insert_with(|| pairs(text));
        let index = pairs.binary_search_by_key(&open, |(open, _)| *open).ok()?;
        Some(pairs[index].1).filter(|close| close - open <= MAX_PLACEHOLDER_LENGTH)
    }

    /// Returns the next position of a character, if it is within the length limit.
    pub(super) fn next_position(&mut self, byte: u8, from: usize) -> Option<usize> {
        let known = self.last.filter(|(own, since, at)| {
            *own == byte && *since <= from && at.is_none_or(|at| at >= from)
        });
        let search = || {
            let found = memchr::memchr(byte, &self.text.as_bytes()[from..]);
            found.map(|found| from + found)
        };
        let at = known.map_or_else(search, |(_, _, at)| at);
        self.last = Some((byte, from, at));
        at.filter(|at| at - from < MAX_PLACEHOLDER_LENGTH)
    }
}

fn pairs(text: &str) -> Vec<(usize, usize)> {
    let (mut open, mut pairs) = (Vec::new(), Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => pairs.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}
