//! The reader task and the driver task of a stdio session, and how the session ends.
//!
//! The driver watches both the process and its stdout: a grandchild that inherited stdout keeps the
//! pipe open after the server has exited, and a server may close stdout and keep running.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::lines::{LimitedLine, LineBuffer};
use super::multiline::MultilineMessage;
use super::stdout_reader::read_more;
use super::writer::{WriteError, WriteMode, Writer};
use crate::session::{
    EndReason, MessageSender, RequestOutcome, SessionCore, SessionEnd, SessionViolation,
};
use crate::transport::process::{GracePeriod, Process, StderrTail, Stdout};

/// After stdout, stdin or the process ends: how long to wait for the exit or the rest of stdout.
const CONFIRMATION_LIMIT: Duration = Duration::from_millis(250);
/// How long to wait for the rest of stderr.
const STDERR_LIMIT: Duration = Duration::from_millis(50);
/// After so many lines in a row that are not messages, the program is not an MCP server.
const MAX_JUNK_LINES: usize = 100_000;
/// An oversized line is skipped up to this many times the message limit.
const MAX_OVERSIZED_FACTOR: u64 = 32;

/// After so many bytes the reader yields: a server that writes without end is always ready.
const YIELD_AFTER: usize = 256 << 10;

/// The caller's side of a stdio session.
pub(crate) struct StdioTransport {
    writer: Arc<Writer>,
    stderr: StderrTail,
}

/// Starts the tasks of a stdio session.
pub(crate) fn open(
    core: &Arc<SessionCore>,
    mut process: Process,
    grace: GracePeriod,
) -> StdioTransport {
    let stdout = process.take_stdout();
    let writer = Arc::new(Writer::new(process.take_stdin(), core.tracer.clone()));
    let stderr = process.stderr().clone();
    let (output_sender, output_closed) = oneshot::channel();
    let reader = Reader {
        core: Arc::clone(core),
        writer: Arc::clone(&writer),
        lines: LineBuffer::new(core.limits.message),
        multiline: MultilineMessage::new(core.limits.message),
        junk: 0,
    };
    let ended = core.ended.clone();
    core.spawn(async move {
        let reason = tokio::select! {
            () = ended.cancelled() => EndReason::Closed,
            reason = reader.run(stdout) => reason,
        };
        // The send fails if the driver has already ended the session.
        drop(output_sender.send(reason));
    });
    let driver = Driver { core: Arc::clone(core), writer: Arc::clone(&writer), process };
    core.spawn(driver.run(output_closed, grace));
    StdioTransport { writer, stderr }
}

impl StdioTransport {
    /// Sends a request. `outstanding` is the number of requests without a response, with this one.
    pub(crate) fn send(
        &self,
        id: u64,
        message: Vec<u8>,
        outstanding: usize,
    ) -> Result<(), WriteError> {
        let mode = if outstanding <= 1 { WriteMode::Immediate } else { WriteMode::Batched };
        self.writer.write_line(Some(id), with_newline(message), mode)
    }

    /// Sends a message that has no response.
    pub(crate) fn send_message(&self, message: Vec<u8>) {
        send_message(&self.writer, message);
    }

    /// Removes a request from the queue; `true` if no byte of it was written.
    pub(crate) fn cancel_unwritten(&self, id: u64) -> bool {
        self.writer.cancel_unwritten(id)
    }

    /// Returns the last part of the server's stderr.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.stderr
    }
}

impl MessageSender for Writer {
    fn send_message(self: Arc<Self>, message: Vec<u8>) {
        send_message(&self, message);
    }
}

fn send_message(writer: &Writer, message: Vec<u8>) {
    // Nothing can be done for a server that has exited or does not read.
    let _ignored = writer.write_line(None, with_newline(message), WriteMode::Immediate);
}

fn with_newline(mut message: Vec<u8>) -> Vec<u8> {
    message.push(b'\n');
    message
}

struct Reader {
    core: Arc<SessionCore>,
    writer: Arc<Writer>,
    lines: LineBuffer,
    multiline: MultilineMessage,
    junk: usize,
}

impl Reader {
    /// Reads until stdout ends, and returns the reason.
    async fn run(mut self, stdout: Option<Stdout>) -> EndReason {
        let Some(mut stdout) = stdout else { return EndReason::OutputClosed };
        let mut turn = 0;
        loop {
            if turn >= YIELD_AFTER {
                turn = 0;
                tokio::task::yield_now().await;
            }
            let count = read_more(&mut stdout, &mut self.lines).await.unwrap_or(0);
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

struct Driver {
    core: Arc<SessionCore>,
    writer: Arc<Writer>,
    process: Process,
}

impl Driver {
    async fn run(mut self, output_closed: oneshot::Receiver<EndReason>, grace: GracePeriod) {
        let core = Arc::clone(&self.core);
        let (ended, unsent) = tokio::select! {
            biased;
            end = self.run_until_end(output_closed) => end,
            never = core.pending.run_timer(|| core.last_server_request()) => match never {},
        };
        core.end(ended, &unsent);
        self.process.end(grace).await;
    }

    /// Runs until the session ends; returns how it ended, and the requests that were never written.
    async fn run_until_end(
        &mut self,
        output_closed: oneshot::Receiver<EndReason>,
    ) -> (SessionEnd, Vec<u64>) {
        let reason = self.wait_for_end(output_closed).await;
        let unsent = self.writer.close();
        // The last error messages of the server may not have been read yet.
        let limit = if matches!(reason, EndReason::Closed) { Duration::ZERO } else { STDERR_LIMIT };
        let stderr = self.process.final_stderr(limit).await;
        (SessionEnd { reason, stderr }, unsent)
    }

    /// Runs until the session ends, and returns the reason.
    async fn wait_for_end(&mut self, mut output_closed: oneshot::Receiver<EndReason>) -> EndReason {
        let status = tokio::select! {
            biased;
            () = self.core.stop.cancelled() => return EndReason::Closed,
            reason = &mut output_closed => {
                let reason = reason.unwrap_or(EndReason::OutputClosed);
                if !matches!(reason, EndReason::OutputClosed) {
                    return reason;
                }
                // Usually the process has just exited; its status says more.
                let exited = tokio::time::timeout(CONFIRMATION_LIMIT, self.process.exited()).await;
                return exited.map_or(reason, |status| EndReason::Exited { status });
            }
            status = self.process.exited() => status,
            _ = self.writer.write_queued() => {
                match tokio::time::timeout(CONFIRMATION_LIMIT, self.process.exited()).await {
                    Ok(status) => status,
                    Err(_) => return EndReason::InputClosed,
                }
            }
        };
        // Messages that the server wrote before its exit still count. When the reader gives up on
        // stdout, the server may exit because it fails to write; then the reader's reason counts.
        match tokio::time::timeout(CONFIRMATION_LIMIT, output_closed).await {
            Ok(Ok(reason @ (EndReason::NotMcp | EndReason::EndlessMessage))) => reason,
            _ => EndReason::Exited { status },
        }
    }
}
