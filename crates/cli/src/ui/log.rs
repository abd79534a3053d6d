//! Writes the log to stderr, one line per event, with control characters escaped.
//!
//! `tracing` calls `write` once per event.

use std::io::{self, Write};

use wharf_config::text::clean;

/// The writer of one log line.
#[derive(Debug)]
pub(crate) struct LogLine;

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Names of servers and tools are untrusted text.
        let line = String::from_utf8_lossy(bytes);
        let line = format!("{}\n", clean(line.trim_end()));
        io::stderr().lock().write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
