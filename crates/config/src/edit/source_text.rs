//! Works on the source text of a file: lines, indentation, comments, and replacing ranges.

use std::ops::Range;

use crate::document::Notation;

/// Deletions and insertions that are made together; positions refer to the original text.
#[derive(Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at..at, text.into()));
    }

    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.0.push((range, String::new()));
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// Applies them. Deletions may overlap; insertions at one position keep their order.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (range, new) in self.0 {
            if range.start > done {
                out.push_str(&text[done..range.start]);
            }
            out.push_str(&new);
            done = done.max(range.end);
        }
        out.push_str(&text[done..]);
        out
    }
}

/// Returns the line end of most lines; `\n` if there is none.
pub(super) fn line_ending(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let windows = text.matches("\r\n").count();
    if windows * 2 > all { "\r\n" } else { "\n" }
}

/// Returns the length of a text without its trailing blanks and line ends. Other white space is
/// kept: it can only be part of a comment.
pub(super) fn trimmed_length(text: &str) -> usize {
    text.trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// Returns the start of the line of a position.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the end of the line of a position, before its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}

/// Returns the start of the line after a position, or the end of the text.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}

/// Returns the number of the line of a position, counted from 1.
pub(super) fn line_number(text: &str, at: usize) -> u32 {
    u32::try_from(text[..at].matches('\n').count() + 1).unwrap_or(u32::MAX)
}

/// Returns the leading spaces and tabs of the line of a position.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Tells whether only spaces and tabs come before a position on its line.
pub(super) fn is_first_on_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// Skips spaces and tabs.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t']).len()
}

/// Tells whether a position is the end of a line or of the text.
pub(super) fn is_line_end(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// Finds the comments of a valid text, without their line ends.
pub(super) fn comments(text: &str, notation: Notation) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(length) = text[at..].find(['"', '\'', '/', '#']) {
        let start = at + length;
        let rest = &text[start..];
        at = match notation {
            Notation::Json if rest.starts_with("/*") => {
                rest[2..].find("*/").map_or(text.len(), |length| start + length + 4)
            }
            // The parser ends such a comment at either character.
            Notation::Json if rest.starts_with("//") => {
                rest.find(['\n', '\r']).map_or(text.len(), |length| start + length)
            }
            Notation::Toml if rest.starts_with('#') => line_end(text, start),
            _ if rest.starts_with(['"', '\'']) => {
                at = string_end(text, start, notation);
                continue;
            }
            _ => {
                at = start + 1;
                continue;
            }
        };
        found.push(start..at);
    }
    found
}

/// Tells whether a comment extends to the end of its line.
pub(super) fn is_line_comment(text: &str, comment: &Range<usize>) -> bool {
    !text[comment.clone()].starts_with("/*")
}

fn string_end(text: &str, start: usize, notation: Notation) -> usize {
    let rest = &text[start..];
    let quote = &rest[..1];
    let long = quote.repeat(3);
    if notation == Notation::Toml && rest.starts_with(&long) {
        let end = closing(text, start + 3, &long, quote == "\"");
        // Up to two more quotes may directly precede the closing three.
        let further = text[end..].bytes().take(2).take_while(|byte| *byte == quote.as_bytes()[0]);
        return end + further.count();
    }
    closing(text, start + 1, quote, notation == Notation::Json || quote == "\"")
}

fn closing(text: &str, from: usize, quote: &str, has_escapes: bool) -> usize {
    let mut at = from;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if has_escapes && rest[0] == b'\\' {
            at += 2;
        } else if rest.starts_with(quote.as_bytes()) {
            return at + quote.len();
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, notation: Notation, expected: &[&str]) {
        let found: Vec<&str> =
            comments(text, notation).into_iter().map(|comment| &text[comment]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_comment_mark_within_a_string_is_not_a_comment() {
        check(r#"{"a": "// \" /* no */"} // yes"#, Notation::Json, &["// yes"]);
        check("/* a\n // b */ 1 //c\r\n", Notation::Json, &["/* a\n // b */", "//c"]);
        check("[ // a\r 1, // b\r\n 2]", Notation::Json, &["// a", "// b"]);
        check("a = \"# \\\" no\" # yes\r\nb = '# no\\'#c", Notation::Toml, &["# yes", "#c"]);
        check("a = \"\"\"# \"no\n# \\\"\"\" no\"\"\"\"\" # yes", Notation::Toml, &["# yes"]);
        check("a = '''\n# 'no'''#yes\n\"b#\".c = 1", Notation::Toml, &["#yes"]);
    }

    #[test]
    fn the_most_frequent_line_end_is_used() {
        assert_eq!(line_ending("a"), "\n");
        assert_eq!(line_ending("a\r\nb\r\nc\n"), "\r\n");
        assert_eq!(line_ending("a\r\nb\n"), "\n");
    }
}
