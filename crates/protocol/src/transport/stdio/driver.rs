//! The two tasks of a session, and its end.
//!
//! The process and its output are both watched: a grandchild that inherited the output keeps the
//! pipe open after the server has died, and a server may close its output and stay.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::intake::read_more;
use super::lines::{Line, LineBuffer};
use super::scattered::Scattered;
use super::writer::{Haste, NotTaken, Writer};
use crate::session::{Answer, Core, EndReason, Ended, Speaker, Warning};
use crate::transport::process::{Grace, Process, StderrTail, Stdout};

/// How long to wait for the other sign when one says that the session is over.
const CONFIRMATION: Duration = Duration::from_millis(250);
/// How long the last of the error output may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// Lines that are no messages, one after the other, until we conclude that this is no server.
const JUNK: usize = 100_000;
/// An oversized line is passed over up to this many times the limit.
const PATIENCE: u64 = 32;

/// So much is read before others get their turn: a server that writes without end is always ready.
const TURN: usize = 256 << 10;

/// The caller's side of a session.
pub(crate) struct PipeLink {
    writer: Arc<Writer>,
    stderr: StderrTail,
}

/// Starts the tasks of a session.
pub(crate) fn open(core: &Arc<Core>, mut process: Process, grace: Grace) -> PipeLink {
    let stdout = process.take_stdout();
    let writer = Arc::new(Writer::new(process.take_stdin(), core.tracer.clone()));
    let stderr = process.stderr().clone();
    let (silent, output_over) = oneshot::channel();
    let reader = Reader {
        core: Arc::clone(core),
        writer: Arc::clone(&writer),
        lines: LineBuffer::new(core.limits.message),
        scattered: Scattered::new(core.limits.message),
        junk: 0,
    };
    let over = core.over.clone();
    core.spawn(async move {
        let reason = tokio::select! {
            () = over.cancelled() => EndReason::Closed,
            reason = reader.run(stdout) => reason,
        };
        // The driver may have ended the session already.
        drop(silent.send(reason));
    });
    let driver = Driver { core: Arc::clone(core), writer: Arc::clone(&writer), process };
    core.spawn(driver.run(output_over, grace));
    PipeLink { writer, stderr }
}

impl PipeLink {
    /// Sends a request; `outstanding` requests, this one included, wait for answers.
    pub(crate) fn send(&self, id: u64, message: Vec<u8>, outstanding: usize) -> Result<(), Unsent> {
        let haste = if outstanding <= 1 { Haste::Now } else { Haste::Together };
        self.writer.take(Some(id), ended(message), haste).map_err(|why| match why {
            NotTaken::Closed => Unsent::Closed,
            NotTaken::Full => Unsent::Full,
        })
    }

    /// Sends a message that has no answer.
    pub(crate) fn say(&self, message: Vec<u8>) {
        say(&self.writer, message);
    }

    /// Takes a request back that may not have been written; `true` if it was not.
    pub(crate) fn take_back(&self, id: u64) -> bool {
        self.writer.take_back(id)
    }

    /// Returns what the server wrote to its error output lately.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.stderr
    }
}

/// Why a request could not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The session is over.
    Closed,
    /// The server does not read, and too much waits for it.
    Full,
}

impl Speaker for Writer {
    fn say(self: Arc<Self>, message: Vec<u8>) {
        say(&self, message);
    }
}

fn say(writer: &Writer, message: Vec<u8>) {
    // A server that is gone, or does not read, cannot be told anything.
    let _ignored = writer.take(None, ended(message), Haste::Now);
}

fn ended(mut message: Vec<u8>) -> Vec<u8> {
    message.push(b'\n');
    message
}

struct Reader {
    core: Arc<Core>,
    writer: Arc<Writer>,
    lines: LineBuffer,
    scattered: Scattered,
    junk: usize,
}

impl Reader {
    /// Reads until the output is over, and says why it is.
    async fn run(mut self, stdout: Option<Stdout>) -> EndReason {
        let Some(mut stdout) = stdout else { return EndReason::OutputClosed };
        let mut turn = 0;
        loop {
            if turn >= TURN {
                turn = 0;
                tokio::task::yield_now().await;
            }
            let count = read_more(&mut stdout, &mut self.lines).await.unwrap_or(0);
            while let Some(line) = self.lines.next_line() {
                self.take(line);
            }
            turn += count;
            if count == 0 {
                if let Some(line) = self.lines.rest() {
                    self.take(line);
                }
                return EndReason::OutputClosed;
            }
            if self.junk > JUNK {
                return EndReason::NotMcp;
            }
            if self.lines.skipped() > PATIENCE * self.core.limits.message as u64 {
                return EndReason::Endless;
            }
            self.lines.relax();
        }
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Whole(line) => {
                if line.trim_ascii().is_empty() {
                    return;
                }
                let is_message = self.core.take(&line, &self.writer)
                    || self
                        .scattered
                        .add(&line)
                        .is_some_and(|text| self.core.take(&text, &self.writer));
                self.junk = if is_message { 0 } else { self.junk + 1 };
            }
            Line::TooLong(start) => {
                self.core.warnings.add(Warning::Oversized);
                let pending = &self.core.pending;
                let asked = guessed_id(&start).map_or_else(|| pending.ids(), |id| vec![id]);
                for id in asked {
                    pending.answer(id, Answer::TooLarge { limit: self.core.limits.message });
                }
            }
        }
    }
}

/// Finds the id near the start of a message that is too long to read.
fn guessed_id(start: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(start);
    let (_, rest) = text.split_once("\"id\":")?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

struct Driver {
    core: Arc<Core>,
    writer: Arc<Writer>,
    process: Process,
}

impl Driver {
    async fn run(mut self, output_over: oneshot::Receiver<EndReason>, grace: Grace) {
        let core = Arc::clone(&self.core);
        let (ended, unsent) = tokio::select! {
            biased;
            end = self.watch(output_over) => end,
            never = core.pending.keep_time(|| core.last_question()) => match never {},
        };
        core.end(ended, &unsent);
        self.process.end(grace).await;
    }

    /// Works until the session is over; returns how it ended, and the requests never written.
    async fn watch(&mut self, output_over: oneshot::Receiver<EndReason>) -> (Ended, Vec<u64>) {
        let reason = self.last(output_over).await;
        let unsent = self.writer.close();
        // What a dying server complained about may still be on its way.
        let patience =
            if matches!(reason, EndReason::Closed) { Duration::ZERO } else { LAST_WORDS };
        let stderr = self.process.last_words(patience).await;
        (Ended { reason, stderr }, unsent)
    }

    /// Works until the session is over, and says why it is.
    async fn last(&mut self, mut output_over: oneshot::Receiver<EndReason>) -> EndReason {
        tokio::select! {
            biased;
            () = self.core.stop.cancelled() => EndReason::Closed,
            reason = &mut output_over => {
                let reason = reason.unwrap_or(EndReason::OutputClosed);
                if !matches!(reason, EndReason::OutputClosed) {
                    return reason;
                }
                // Usually the process has just died; its status says more.
                match tokio::time::timeout(CONFIRMATION, self.process.exited()).await {
                    Ok(status) => EndReason::Exited { status },
                    Err(_) => EndReason::OutputClosed,
                }
            }
            status = self.process.exited() => {
                // What the server wrote before it died still counts.
                let output = tokio::time::timeout(CONFIRMATION, output_over).await;
                died(status, output.ok().and_then(Result::ok))
            }
            _ = self.writer.drive() => {
                match tokio::time::timeout(CONFIRMATION, self.process.exited()).await {
                    Ok(status) => {
                        let output = tokio::time::timeout(CONFIRMATION, output_over).await;
                        died(status, output.ok().and_then(Result::ok))
                    }
                    Err(_) => EndReason::InputClosed,
                }
            }
        }
    }
}

/// Says why a session is over whose process has exited. A server whose output is read no further
/// because it makes no sense fails to write, and may die of that before we end it.
fn died(status: Option<ExitStatus>, output: Option<EndReason>) -> EndReason {
    match output {
        Some(reason @ (EndReason::NotMcp | EndReason::Endless)) => reason,
        _ => EndReason::Exited { status },
    }
}
