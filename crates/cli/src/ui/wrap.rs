//! Wraps sentences at word boundaries for a terminal.
//!
//! Continuation lines are indented further, so that text from a server cannot look like a line of
//! Wharf. Words that are wider than the terminal, such as paths, and command lines are not broken,
//! because they are meant to be copied.

use std::borrow::Cow;

use anstream::adapter::strip_str;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Wraps each line of a text to a width. Colour codes have no width.
pub(crate) fn wrap(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| display_width(line) <= columns) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_inclusive('\n').map(|line| wrap_line(line, columns)).collect())
}

fn wrap_line(line: &str, columns: usize) -> Cow<'_, str> {
    let words = line.trim_end();
    if display_width(words) <= columns || is_command(words) {
        return Cow::Borrowed(line);
    }
    let indent = &words[..words.len() - words.trim_start().len()];
    let rest = " ".repeat(rest_indent(words, indent.len(), columns));
    let mut wrapped = fill(words.trim_start(), columns, indent, &rest);
    // Keep the space after a question, or the line end.
    wrapped.push_str(&line[words.len()..]);
    Cow::Owned(wrapped)
}

/// Wraps words, with an indent for the first line and one for the others.
pub(crate) fn fill(words: &str, columns: usize, first: &str, rest: &str) -> String {
    let options = Options::new(columns)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(words, options)
}

/// Returns the indent of continuation lines: below the value in a line with a label, else two
/// columns more than the line itself.
fn rest_indent(line: &str, indent: usize, columns: usize) -> usize {
    let plain = strip_str(line).to_string();
    let below_value = plain[indent..].split_once("  ").map(|(label, rest)| {
        let gap = 2 + rest.len() - rest.trim_start().len();
        indent + display_width(label) + gap
    });
    below_value.filter(|at| *at <= columns / 2).unwrap_or(indent + 2)
}

/// Tells whether a line is a command to copy.
fn is_command(line: &str) -> bool {
    let plain = strip_str(line).to_string();
    let words = plain.trim_start();
    words.strip_prefix("usage: ").unwrap_or(words).starts_with("wharf ")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::ui::style;

    #[test]
    fn a_wrapped_line_is_indented() {
        let text = format!(
            "{} the server did not answer within 30 s, and nothing more is known\n  {} try again\n",
            style::bad("error:"),
            style::advice("hint:")
        );
        assert_snapshot!(strip_str(&wrap(&text, 40)).to_string(), @"
        error: the server did not answer within
          30 s, and nothing more is known
          hint: try again
        ");
    }

    #[test]
    fn a_wrapped_value_is_aligned_below_its_start() {
        assert_snapshot!(wrap("  approval       ask (an agent must ask before every call)\n", 40), @"
          approval       ask (an agent must ask
                         before every call)
        ");
    }

    #[test]
    fn commands_and_paths_are_not_broken() {
        let command = "  usage: wharf call notes/search query=<string> [limit=<integer>]\n";
        assert_eq!(wrap(command, 20), command);
        let path = "see /a/very/long/folder/of/a/program/that/is/gone now";
        assert_eq!(wrap(path, 20), "see\n  /a/very/long/folder/of/a/program/that/is/gone\n  now");
    }

    #[test]
    fn a_question_keeps_its_trailing_space() {
        assert_eq!(
            wrap("Trust \"notes\" in this folder? [y/N] ", 20),
            "Trust \"notes\" in\n  this folder? [y/N] "
        );
    }
}
