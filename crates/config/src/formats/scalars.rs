//! Reads single values of an entry: text, lists, booleans, timeouts, ports.
//!
//! A value of another type is converted or ignored, with a problem.

use crate::document::{Node, Value};
use crate::env::Platform;
use crate::server::WrittenText;
use crate::time::parse_duration;

use super::entry_reader::EntryReader;
use super::program::{TimeUnit, TimeoutKind};

/// One day; a longer timeout is an accident or means no timeout.
const MAX_TIMEOUT_MS: f64 = 86_400_000.0;

impl EntryReader<'_> {
    /// Reads a string.
    pub(crate) fn text(&mut self, word: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(digits) => {
                self.warn_unquoted(word, node);
                Some(digits.clone())
            }
            Value::Bool(truth) => {
                self.warn_unquoted(word, node);
                Some(truth.to_string())
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                let message = format!("\"{word}\" must be a string, not {}", node.kind());
                self.error("wrong-type", node.line, word, (message, "write one string in quotes"));
                None
            }
        }
    }

    /// Reads a string that may have placeholders; surrounding white space is removed.
    pub(crate) fn written(&mut self, word: &str, node: &Node) -> Option<WrittenText> {
        let syntax = self.dialect.syntax;
        self.trimmed(word, node).map(|text| WrittenText { text, syntax })
    }

    /// Reads a string and removes surrounding white space, which is an accident.
    pub(crate) fn trimmed(&mut self, word: &str, node: &Node) -> Option<String> {
        let text = self.text(word, node)?;
        let trimmed = text.trim();
        if trimmed.len() == text.len() {
            return Some(text);
        }
        self.warn_stray_space(word, node, "removed");
        Some(trimmed.to_owned())
    }

    fn warn_stray_space(&mut self, word: &str, node: &Node, what: &str) {
        let message = format!("\"{word}\" begins or ends with white space; {what}");
        self.warn("stray-space", node.line, word, (message, "remove it in the file"));
    }

    /// Splits a command line into words. On Windows a backslash is part of a path.
    pub(super) fn split_words(&self, line: &str) -> Option<Vec<String>> {
        match self.env.platform {
            Platform::Windows => shlex::split(&line.replace('\\', "\\\\")),
            Platform::Linux | Platform::MacOs => shlex::split(line),
        }
    }

    /// Reads arguments: a list of strings, or one string with spaces.
    pub(super) fn arguments(&mut self, word: &str, node: &Node) -> Vec<WrittenText> {
        let syntax = self.dialect.syntax;
        if let Some(line) = node.as_str() {
            let hint = format!("write \"{word}\": [\"…\", \"…\"]");
            let message = format!("\"{word}\" must be a list, not a string; read as words");
            self.warn("wrong-type", node.line, word, (message, hint));
            let words = self.split_words(line).unwrap_or_else(|| vec![line.to_owned()]);
            return words.into_iter().map(|text| WrittenText { text, syntax }).collect();
        }
        self.texts(word, node).into_iter().map(|text| WrittenText { text, syntax }).collect()
    }

    /// Reads a list of strings.
    pub(crate) fn texts(&mut self, word: &str, node: &Node) -> Vec<String> {
        let Some(list) = node.as_list() else {
            let message = format!("\"{word}\" must be a list, not {}", node.kind());
            let hint = format!("write \"{word}\": [\"…\", \"…\"]");
            self.error("wrong-type", node.line, word, (message, hint));
            return Vec::new();
        };
        let numbered = list.iter().enumerate();
        numbered.filter_map(|(index, item)| self.text(&format!("{word}[{index}]"), item)).collect()
    }

    /// Reads names and values, such as variables or headers.
    pub(crate) fn pairs(
        &mut self,
        word: &str,
        ours: &str,
        node: &Node,
    ) -> Vec<(String, WrittenText)> {
        // In native entries these values are resolved when connecting (`Syntax::RESOLVED`).
        let syntax = self.dialect.syntax;
        if let Some(map) = node.as_map() {
            let pairs = map.iter().filter_map(|(key, value)| {
                let field = format!("{ours}.{}", key.text);
                let text = match &value.value {
                    Value::Null => {
                        let message = format!("\"{field}\" is null; ignored");
                        let hint = "give it a value, or remove it";
                        self.warn("wrong-type", value.line, &field, (message, hint));
                        return None;
                    }
                    // HTTP does not allow line ends in a header.
                    _ if ours == "headers" => self.trimmed(&field, value)?,
                    _ => self.text(&field, value)?,
                };
                if text.trim().len() != text.len() {
                    self.warn_stray_space(&field, value, "kept");
                }
                Some((key.text.clone(), WrittenText { text, syntax }))
            });
            return pairs.collect();
        }
        let lines = node.as_list().unwrap_or_default().iter().map(Node::as_str);
        let split = |line: Option<&str>| {
            // Headers are usually `Name: value`, and the value may contain `=`.
            let colon = line?.split_once(':').filter(|_| ours == "headers");
            let (name, text) = colon.or_else(|| line?.split_once('='))?;
            Some((name.trim().to_owned(), WrittenText { text: text.trim().to_owned(), syntax }))
        };
        match lines.map(split).collect::<Option<Vec<_>>>() {
            Some(pairs) if node.as_list().is_some() => {
                let message =
                    format!("\"{word}\" must be an object, not a list; read line by line");
                let hint = format!("write \"{word}\": {{ \"NAME\": \"value\" }}");
                self.warn("wrong-type", node.line, word, (message, hint));
                pairs
            }
            _ => {
                let message =
                    format!("\"{word}\" must be an object of strings, not {}", node.kind());
                let hint = format!("write \"{word}\": {{ \"NAME\": \"value\" }}");
                self.error("wrong-type", node.line, word, (message, hint));
                Vec::new()
            }
        }
    }

    /// Reads an optional string; any other value is reported and ignored.
    pub(super) fn optional_text(&mut self, word: &str, node: &Node) -> Option<String> {
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            let message = format!("\"{word}\" must be a string, not {}; ignored", node.kind());
            self.warn("wrong-type", node.line, word, (message, "write one string in quotes"));
        }
        text
    }

    /// Reads a port number; any other value is reported and ignored.
    pub(super) fn port(&mut self, word: &str, node: &Node) -> Option<u16> {
        let port = node.as_f64().and_then(port);
        if port.is_none() {
            let message = format!("\"{word}\" must be a port, 1 to 65535; ignored");
            self.warn("wrong-type", node.line, word, (message, "write a number such as 8080"));
        }
        port
    }

    /// Reads a boolean; any other value is reported and ignored.
    pub(crate) fn flag(&mut self, word: &str, node: &Node) -> Option<bool> {
        let quoted = match node.as_str() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let flag = node.as_bool().or(quoted.filter(|_| self.dialect.quoted_scalars));
        if flag.is_none() {
            let message = format!("\"{word}\" must be true or false, not {}; ignored", node.kind());
            self.warn(
                "wrong-type",
                node.line,
                word,
                (message, "write true or false without quotes"),
            );
        }
        flag
    }

    /// Reads a timeout; any other value is reported and ignored.
    pub(super) fn read_timeout(
        &mut self,
        word: &str,
        node: &Node,
        kind: TimeoutKind,
        unit: TimeUnit,
    ) {
        let number = match node.as_str() {
            Some(text) if self.dialect.quoted_scalars => text.trim().parse().ok(),
            _ => node.as_f64(),
        };
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        let milliseconds = match (number, node.as_str()) {
            (Some(number), _) => {
                Some(self.clamp_to_range(word, node, number) * milliseconds_per(unit))
            }
            (None, Some(text)) => parse_duration(text).map(|limit| limit.as_secs_f64() * 1_000.0),
            (None, None) => None,
        };
        let Some(milliseconds) = milliseconds.filter(|limit| *limit <= MAX_TIMEOUT_MS) else {
            let message = format!("\"{word}\" is not a valid timeout; ignored");
            let hint = match unit {
                TimeUnit::Milliseconds => "write milliseconds, such as 30000",
                TimeUnit::Seconds => "write seconds, such as 30",
            };
            self.warn("wrong-type", node.line, word, (message, hint));
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between zero and a day"
        )]
        let milliseconds = Some(milliseconds.round() as u64);
        match kind {
            TimeoutKind::Both => self.fields.timeouts.both = milliseconds,
            TimeoutKind::Connect => self.fields.timeouts.connect = milliseconds,
            TimeoutKind::Call => self.fields.timeouts.call = milliseconds,
        }
    }

    /// Clamps `timeout` to the range of its program, because people paste milliseconds.
    fn clamp_to_range(&mut self, word: &str, node: &Node, number: f64) -> f64 {
        match self.dialect.timeout_range.filter(|_| word == "timeout") {
            Some((least, most)) if !(least..=most).contains(&number) => {
                let kept = number.clamp(least, most);
                let message =
                    format!("\"timeout\" is in seconds, {least} to {most}; read as {kept}");
                self.warn(
                    "out-of-range",
                    node.line,
                    word,
                    (message, "write seconds, not milliseconds"),
                );
                kept
            }
            _ => number,
        }
    }

    fn warn_unquoted(&mut self, word: &str, node: &Node) {
        let message = format!("\"{word}\" must be a string, not {}; read as text", node.kind());
        self.warn("wrong-type", node.line, word, (message, "put the value in quotes"));
    }
}

fn milliseconds_per(unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Milliseconds => 1.0,
        TimeUnit::Seconds => 1_000.0,
    }
}

/// Converts a number to a port.
pub(super) fn port(number: f64) -> Option<u16> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (number.fract() == 0.0 && (1.0..=65_535.0).contains(&number)).then_some(number as u16)
}
