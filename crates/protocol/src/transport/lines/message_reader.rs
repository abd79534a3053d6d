//! Reads lines from a byte stream and passes the messages in them to the session.
//!
//! The limits for text that is not a message are here: many such lines in a row, and a line without
//! an end, end the session.

use std::sync::Arc;

use tokio::io::AsyncRead;

use super::line_buffer::{LimitedLine, LineBuffer};
use super::multiline::MultilineMessage;
use super::stream_reader::read_more;
use super::writer::Writer;
use crate::session::{EndReason, RequestOutcome, SessionCore, SessionViolation};

/// After so many lines in a row that are not messages, the program is not an MCP server.
const MAX_JUNK_LINES: usize = 100_000;
/// An oversized line is skipped up to this many times the message limit.
const MAX_OVERSIZED_FACTOR: u64 = 32;

/// After so many bytes the reader yields: a server that writes without end is always ready.
pub(in super::super) const YIELD_AFTER: usize = 256 << 10;

/// Reads the messages of one session.
pub(in super::super) struct MessageReader {
    core: Arc<SessionCore>,
    writer: Arc<Writer>,
    lines: LineBuffer,
    multiline: MultilineMessage,
    junk: usize,
}

impl MessageReader {
    /// Creates a reader; responses to requests of the server go to `writer`.
    pub(in super::super) fn new(core: &Arc<SessionCore>, writer: &Arc<Writer>) -> Self {
        Self {
            core: Arc::clone(core),
            writer: Arc::clone(writer),
            lines: LineBuffer::new(core.limits.message),
            multiline: MultilineMessage::new(core.limits.message),
            junk: 0,
        }
    }

    /// Reads until the stream ends, and returns the reason.
    pub(in super::super) async fn run(
        mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> EndReason {
        let mut turn = 0;
        loop {
            if turn >= YIELD_AFTER {
                turn = 0;
                tokio::task::yield_now().await;
            }
            let count = read_more(stream, &mut self.lines).await.unwrap_or(0);
            while let Some(line) = self.lines.next_line() {
                self.handle_line(line);
            }
            turn += count;
            if count == 0 {
                if let Some(line) = self.lines.rest() {
                    self.handle_line(line);
                }
                return EndReason::OutputClosed;
            }
            if self.junk > MAX_JUNK_LINES {
                return EndReason::NotMcp;
            }
            if self.lines.skipped() > MAX_OVERSIZED_FACTOR * self.core.limits.message as u64 {
                return EndReason::EndlessMessage;
            }
            self.lines.release_memory();
        }
    }

    fn handle_line(&mut self, line: LimitedLine) {
        match line {
            LimitedLine::Whole(line) => {
                if line.trim_ascii().is_empty() {
                    return;
                }
                let is_message = self.core.handle_text(&line, &self.writer)
                    || self
                        .multiline
                        .add(&line)
                        .is_some_and(|text| self.core.handle_text(&text, &self.writer));
                self.junk = if is_message { 0 } else { self.junk + 1 };
            }
            LimitedLine::TooLong(start) => {
                self.core.violations.add(SessionViolation::Oversized);
                let pending = &self.core.pending;
                let asked = guess_id(&start).map_or_else(|| pending.ids(), |id| vec![id]);
                for id in asked {
                    pending
                        .complete(id, RequestOutcome::TooLarge { limit: self.core.limits.message });
                }
            }
        }
    }
}

/// Finds the id near the start of a message that is too long to parse.
fn guess_id(start: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(start);
    let (_, rest) = text.split_once("\"id\":")?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
