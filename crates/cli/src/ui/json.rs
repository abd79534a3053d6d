//! Prints JSON that is safe on a terminal: control characters and bidirectional overrides are
//! escaped. A program that parses it gets the same document.
//!
//! Only the whitespace between tokens changes. Parts that a server wrote keep their digits and the
//! order of their keys.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use wharf_config::text::is_unsafe;

/// The deepest indentation; an untrusted document may nest without limit.
const MAX_INDENT: usize = 64;

/// Formats a document, indented and with a final line end.
pub(super) fn document(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = indented(&serde_json::to_string(value)?);
    text.push('\n');
    Ok(text.into_bytes())
}

/// Indents valid JSON: one member or item per line.
pub(crate) fn indented(json: &str) -> String {
    let mut rendered = String::with_capacity(json.len() + json.len() / 2);
    let mut depth: usize = 0;
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '"' => {
                length = string_length(rest);
                add_safely(&mut rendered, &rest[..length]);
            }
            '{' | '[' => {
                rendered.push(first);
                let inside = rest[1..].trim_start();
                if let Some(end) = inside.chars().next().filter(|c| matches!(c, '}' | ']')) {
                    rendered.push(end);
                    length = rest.len() - inside.len() + 1;
                } else {
                    depth += 1;
                    add_line(&mut rendered, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                add_line(&mut rendered, depth);
                rendered.push(first);
            }
            ',' => {
                rendered.push(first);
                add_line(&mut rendered, depth);
            }
            ':' => rendered.push_str(": "),
            ' ' | '\t' | '\n' | '\r' => {}
            _ => rendered.push(first),
        }
        rest = &rest[length..];
    }
    rendered
}

fn add_line(rendered: &mut String, depth: usize) {
    rendered.push('\n');
    rendered.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
}

/// Returns the length of the JSON string at the start of a text, including its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Adds a JSON string, and escapes more characters than JSON requires.
fn add_safely(rendered: &mut String, string: &str) {
    // Fast path: nearly every string is plain ASCII, and a listing has thousands of strings.
    if string.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        rendered.push_str(string);
        return;
    }
    for c in string.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(rendered, "\\u{unit:04x}");
            }
        } else {
            rendered.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_parse_back_unchanged() {
        let text = "a\u{1b}[31m \u{7f}\u{9b}\u{202e}\u{e0041}é•😀\n\"";
        let value = serde_json::json!({ text: [text, 1, {}, []] });
        let written = String::from_utf8(document(&value).unwrap()).unwrap();
        assert_eq!(
            written,
            concat!(
                "{\n  \"a\\u001b[31m \\u007f\\u009b\\u202e\\udb40\\udc41é•😀\\n\\\"\": [\n    ",
                "\"a\\u001b[31m \\u007f\\u009b\\u202e\\udb40\\udc41é•😀\\n\\\"\",\n    ",
                "1,\n    {},\n    []\n  ]\n}\n"
            )
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }

    #[test]
    fn only_whitespace_between_tokens_changes() {
        let rendered =
            indented("{ \"b\\\\\" :[1.0,12345678901234567890, { } ,-0],\"a\":\"x, y: \\\"{\"}");
        insta::assert_snapshot!(rendered, @r#"
        {
          "b\\": [
            1.0,
            12345678901234567890,
            {},
            -0
          ],
          "a": "x, y: \"{"
        }
        "#);
    }

    #[test]
    fn deeply_nested_json_stays_small() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert!(indented(&deep).len() < 10_000 * 4 * (MAX_INDENT + 1));
    }
}
