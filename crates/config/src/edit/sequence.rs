//! Adds items to a bracketed, comma-separated list and removes them; keeps the list's layout.
//!
//! JSON objects and arrays and TOML arrays and inline tables are all such lists. Between items are
//! only blanks, line ends, commas and comments, so the gaps can be read without a parser.

use std::ops::Range;

use super::source_text::{self, Splices};

/// A bracketed list in a text.
pub(super) struct Sequence<'t> {
    pub(super) text: &'t str,
    /// All comments of the text, in order.
    pub(super) comments: &'t [Range<usize>],
    /// From the opening bracket up to and including the closing one.
    pub(super) range: Range<usize>,
    /// The items in order, without their commas.
    pub(super) items: Vec<Range<usize>>,
}

/// Where a new item is placed in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placement {
    /// On its own line, with this indentation.
    OwnLine(String),
    /// After the others on the same line, preceded by this text.
    SameLine(&'static str),
}

impl Sequence<'_> {
    /// Returns the placement of a new item: on its own line if the others are, else after them.
    /// `spaced` is the text before it if there are fewer than two items to infer it from. Returns
    /// `None` for an empty list, unless a comment in it needs its own line.
    pub(super) fn placement(&self, unit: &str, spaced: &'static str) -> Option<Placement> {
        let outer = source_text::indentation(self.text, self.range.start);
        // A lone `\r` also ends a comment; a new item must not become part of the comment.
        let has_lines = self.gaps().any(|gap| self.text[gap].contains(['\n', '\r']));
        match self.items.last() {
            None if has_lines && self.comments_in(self.inside()).next().is_some() => {
                Some(Placement::OwnLine(format!("{outer}{unit}")))
            }
            None => None,
            Some(last) if has_lines => {
                Some(Placement::OwnLine(if source_text::is_first_on_line(self.text, last.start) {
                    source_text::indentation(self.text, last.start).to_owned()
                } else {
                    format!("{outer}{unit}")
                }))
            }
            Some(_) => {
                let seen = self.comma(0).filter(|_| self.items.len() > 1);
                Some(Placement::SameLine(match seen {
                    Some(comma) if self.text[comma + 1..].starts_with([' ', '\t']) => " ",
                    Some(_) => "",
                    None => spaced,
                }))
            }
        }
    }

    /// Adds an item at the end. `padding` is put inside the brackets of an empty list.
    pub(super) fn append(&self, placement: &Placement, item: &str, padding: &str) -> String {
        let newline = source_text::line_ending(self.text);
        let glue = match placement {
            Placement::OwnLine(indentation) => format!("{newline}{indentation}"),
            Placement::SameLine(blank) => (*blank).to_owned(),
        };
        let mut splices = Splices::default();
        let Some(last) = self.items.last() else {
            self.fill(&mut splices, placement, item, padding);
            return splices.apply(self.text);
        };
        if let Some(comma) = self.comma(self.items.len() - 1) {
            splices.insert(self.end_of_item(comma + 1), format!("{glue}{item},"));
        } else {
            splices.insert(last.end, ",");
            splices.insert(self.end_of_item(last.end), format!("{glue}{item}"));
        }
        splices.apply(self.text)
    }

    /// Removes an item with its comma, and with its line if nothing else is on it.
    pub(super) fn remove(&self, index: usize) -> String {
        let item = self.items[index].clone();
        let mut splices = Splices::default();
        if self.items.len() == 1 && self.comments_in(self.inside()).all(|c| is_within(&c, &item)) {
            splices.delete(self.inside());
            return splices.apply(self.text);
        }
        let comma = self.comma(index);
        let end = comma.map_or(item.end, |comma| comma + 1);
        splices.delete(item.clone());
        if let Some(comma) = comma {
            splices.delete(comma..comma + 1);
        } else if let Some(comma) = index.checked_sub(1).and_then(|before| self.comma(before)) {
            splices.delete(comma..comma + 1);
        }
        if let Some(line) = self.own_lines(&item, end) {
            splices.delete(line);
        } else if comma.is_some() && index + 1 < self.items.len() {
            let next = source_text::skip_blanks(self.text, end);
            if source_text::is_line_end(self.text, next) {
                splices.delete(
                    self.text[..item.start].trim_end_matches([' ', '\t']).len()..item.start,
                );
            } else {
                splices.delete(end..next);
            }
        } else {
            splices.delete(self.blank_before(&item));
        }
        splices.apply(self.text)
    }

    fn fill(&self, splices: &mut Splices, placement: &Placement, item: &str, padding: &str) {
        let newline = source_text::line_ending(self.text);
        let outer = source_text::indentation(self.text, self.range.start);
        let (before, after) = match placement {
            Placement::OwnLine(indentation) => {
                (format!("{newline}{indentation}"), format!("{newline}{outer}"))
            }
            Placement::SameLine(_) => (padding.to_owned(), padding.to_owned()),
        };
        match self.comments_in(self.inside()).last() {
            None => splices.replace(self.inside(), format!("{before}{item}{after}")),
            Some(comment) => {
                let rest = comment.end..self.range.end - 1;
                let before = if before.is_empty() { " " } else { &before };
                let after = if self.text[rest.clone()].contains('\n') {
                    self.text[rest.clone()].to_owned()
                } else {
                    after
                };
                splices.replace(rest, format!("{before}{item}{after}"));
            }
        }
    }

    /// Returns the lines of an item, if only the item and comments after it are on them.
    fn own_lines(&self, item: &Range<usize>, end: usize) -> Option<Range<usize>> {
        let is_tight = self.comments_in(item.end..end).next().is_none()
            && !self.text[item.end..end].contains('\n');
        let last = source_text::skip_blanks(self.text, self.skip_comments_on_line(end));
        let stands_alone = is_tight
            && source_text::is_first_on_line(self.text, item.start)
            && source_text::is_line_end(self.text, last)
            && !self.text[end..last].contains('\n');
        stands_alone.then(|| {
            source_text::line_start(self.text, item.start)..source_text::next_line(self.text, last)
        })
    }

    /// Returns the blanks and line ends before an item, unless they end a comment.
    fn blank_before(&self, item: &Range<usize>) -> Range<usize> {
        let start = source_text::trimmed_length(&self.text[..item.start]);
        let comment = self.comments_in(self.range.start..item.start).last();
        match comment {
            Some(comment)
                if comment.end >= start && source_text::is_line_comment(self.text, &comment) =>
            {
                item.start..item.start
            }
            _ => start..item.start,
        }
    }

    /// Finds the comma after an item.
    fn comma(&self, index: usize) -> Option<usize> {
        let gap = self.gap_after(index);
        let mut at = gap.start;
        for comment in self.comments_in(gap.clone()) {
            if let Some(length) = self.text[at..comment.start].find(',') {
                return Some(at + length);
            }
            at = comment.end;
        }
        self.text[at..gap.end].find(',').map(|length| at + length)
    }

    /// Skips the comments that begin on this line, as long as nothing else is between them.
    fn skip_comments_on_line(&self, from: usize) -> usize {
        let mut at = from;
        for comment in self.comments_in(from..self.range.end) {
            if source_text::skip_blanks(self.text, at) != comment.start {
                break;
            }
            at = comment.end;
        }
        at
    }

    /// Skips what belongs to an item on its line: comments and trailing blanks.
    fn end_of_item(&self, from: usize) -> usize {
        let at = self.skip_comments_on_line(from);
        let next = source_text::skip_blanks(self.text, at);
        if source_text::is_line_end(self.text, next) { next } else { at }
    }

    fn inside(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - 1
    }

    fn gaps(&self) -> impl Iterator<Item = Range<usize>> {
        let first = self.items.first().map_or(self.range.end - 1, |item| item.start);
        std::iter::once(self.range.start + 1..first)
            .chain((0..self.items.len()).map(|index| self.gap_after(index)))
    }

    fn gap_after(&self, index: usize) -> Range<usize> {
        let end = self.items.get(index + 1).map_or(self.range.end - 1, |next| next.start);
        self.items[index].end..end
    }

    fn comments_in(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.comments.partition_point(|comment| comment.start < range.start);
        self.comments[first..].iter().take_while(move |comment| comment.end <= range.end).cloned()
    }
}

fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
