//! Where the lines of the log go: to stderr, one line per event, safe to show.

use std::io::{self, Write};

use wharf_config::text::clean;

/// Writes one line of the log.
#[derive(Debug)]
pub(crate) struct LogLine;

impl LogLine {
    /// Takes the next line.
    pub(crate) fn new() -> Self {
        Self
    }
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Names of servers and tools are foreign text.
        let line = String::from_utf8_lossy(bytes);
        let line = format!("{}\n", clean(line.trim_end()));
        io::stderr().lock().write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
