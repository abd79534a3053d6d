//! Finds where placeholders end, in one pass over a text however many of them begin in it.
//!
//! A text may come from a stranger: a million opening braces must not be a million searches.

use super::MAX_PLACEHOLDER_LENGTH;

/// Where the brackets of a text end. Nothing is searched before somebody asks.
pub(super) struct ClosingBrackets<'a> {
    text: &'a str,
    /// Each `{` with the `}` that belongs to it, in the order of the former.
    pairs: Option<Vec<(usize, usize)>>,
    /// The last answer about a character: from where it was searched, and where it is.
    last: Option<(u8, usize, Option<usize>)>,
}

impl<'a> ClosingBrackets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, pairs: None, last: None }
    }

    /// Returns the `}` that belongs to the `{` at a place, so that a default may hold a pair of its
    /// own.
    pub(super) fn matching_brace(&mut self, open: usize) -> Option<usize> {
        let text = self.text;
        let pairs = self.pairs.get_or_insert_with(|| pairs(text));
        let index = pairs.binary_search_by_key(&open, |(open, _)| *open).ok()?;
        Some(pairs[index].1).filter(|close| close - open <= MAX_PLACEHOLDER_LENGTH)
    }

    /// Returns the next place of a character, if that is not too far away.
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
