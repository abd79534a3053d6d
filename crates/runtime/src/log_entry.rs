//! The format of log lines: the time, and either a line of the server or the start of the server.
//!
//! ```text
//! 2026-03-01T12:00:00Z > started
//! 2026-03-01T12:00:01Z | what the server wrote
//! ```
//!
//! Every line of a server has the bar, so a server cannot imitate a start line. Lines without a
//! time were written by earlier versions.

use std::time::SystemTime;

use wharf_config::time::rfc3339;

/// How long a time is: `2026-03-01T12:00:00Z`.
const TIME: usize = 20;

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When it was written, by RFC 3339 in UTC; none in a log of an earlier version.
    pub at: Option<String>,
    /// The line that the server wrote: untrusted text; none for a start of the server.
    pub text: Option<String>,
}

impl LogEntry {
    /// Reads a line of a log file.
    pub fn parse(line: &str) -> Self {
        let plain = || Self { at: None, text: Some(line.to_owned()) };
        let Some((time, rest)) = line.split_at_checked(TIME).filter(|(time, _)| is_time(time))
        else {
            return plain();
        };
        let at = Some(time.to_owned());
        match (rest.strip_prefix(" | "), rest) {
            (Some(text), _) => Self { at, text: Some(text.to_owned()) },
            (None, " |") => Self { at, text: Some(String::new()) },
            (None, " > started") => Self { at, text: None },
            _ => plain(),
        }
    }
}

/// Returns the line for the start of a server.
pub(crate) fn start_mark(at: SystemTime) -> String {
    format!("{} > started\n", rfc3339(at))
}

/// Appends output of a server, with the time before each line. A piece may start and end inside a
/// line; returns whether it ended with a line break.
pub(crate) fn append(written: &mut Vec<u8>, piece: &[u8], mut begins_line: bool) -> bool {
    let time = rfc3339(SystemTime::now());
    for line in piece.split_inclusive(|&byte| byte == b'\n') {
        if begins_line {
            written.extend_from_slice(time.as_bytes());
            written.extend_from_slice(b" | ");
        }
        written.extend_from_slice(line);
        begins_line = line.ends_with(b"\n");
    }
    begins_line
}

fn is_time(text: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:ddZ";
    text.len() == TIME
        && text.bytes().zip(pattern).all(|(byte, &wanted)| match wanted {
            b'd' => byte.is_ascii_digit(),
            sign => byte == sign,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_version_are_read() {
        let check = |line: &str, at: Option<&str>, text: Option<&str>| {
            let entry = LogEntry { at: at.map(str::to_owned), text: text.map(str::to_owned) };
            assert_eq!(LogEntry::parse(line), entry, "{line}");
        };
        let time = "2026-03-01T12:00:00Z";
        check("2026-03-01T12:00:00Z | out of memory", Some(time), Some("out of memory"));
        check("2026-03-01T12:00:00Z | ", Some(time), Some(""));
        check("2026-03-01T12:00:00Z > started", Some(time), None);
        check(
            "2026-03-01T12:00:00Z | 2026-03-01T12:00:00Z > started",
            Some(time),
            Some("2026-03-01T12:00:00Z > started"),
        );
        check("2026-03-01T12:00:00Z its own time", None, Some("2026-03-01T12:00:00Z its own time"));
        check("old line", None, Some("old line"));
        check("", None, Some(""));
        check("日本語日本語日本語日本語", None, Some("日本語日本語日本語日本語"));
    }

    #[test]
    fn pieces_that_end_inside_a_line_are_joined() {
        let mut written = Vec::new();
        let ends = append(&mut written, b"one\ntw", true);
        let ends = append(&mut written, b"o\n", ends);
        assert!(ends);
        let text = String::from_utf8(written).unwrap();
        let lines: Vec<_> = text.lines().filter_map(|line| LogEntry::parse(line).text).collect();
        assert_eq!(lines, ["one", "two"]);
    }
}
