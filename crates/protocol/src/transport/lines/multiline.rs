//! Joins a message that a server writes as indented JSON over several lines.
//!
//! Only lines that are not messages by themselves get here. Indented JSON starts with a line that
//! is only an opening brace, ends with a closing brace, and all lines between are indented. Any
//! other line discards the collected text.

use bytes::{Bytes, BytesMut};

/// The lines collected so far.
#[derive(Debug)]
pub(super) struct MultilineMessage {
    text: Option<BytesMut>,
    limit: usize,
}

impl MultilineMessage {
    /// Collects at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { text: None, limit }
    }

    /// Adds a line that is not a message by itself; returns the whole text if the line closes it.
    pub(super) fn add(&mut self, line: &[u8]) -> Option<Bytes> {
        match line.trim_ascii_end() {
            b"{" => self.text = Some(BytesMut::from(&b"{"[..])),
            b"}" => {
                let mut text = self.text.take()?;
                text.extend_from_slice(b"}");
                return Some(text.freeze());
            }
            line if line.starts_with(b" ") || line.starts_with(b"\t") => {
                let limit = self.limit;
                self.text = self.text.take().filter(|text| text.len() + line.len() < limit);
                if let Some(text) = &mut self.text {
                    text.extend_from_slice(line);
                }
            }
            _ => self.text = None,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(lines: &str) -> Vec<String> {
        let mut multiline = MultilineMessage::new(40);
        let texts = lines.lines().filter_map(|line| multiline.add(line.as_bytes()));
        texts.map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
    }

    #[test]
    fn an_indented_object_becomes_one_message() {
        assert_eq!(joined("x\n{\r\n  \"a\": {\n  }\n}\n}"), ["{  \"a\": {  }}"]);
        assert_eq!(joined("{\n\t\"a\": 1\n}\n{\n}"), ["{\t\"a\": 1}", "{}"]);
    }

    #[test]
    fn text_that_is_not_indented_or_too_long_is_dropped() {
        assert_eq!(joined("{\nlog line\n}"), [""; 0]);
        assert_eq!(joined(&format!("{{\n {}\n}}", "x".repeat(40))), [""; 0]);
    }
}
