//! Reads lines from stdin asynchronously, and discards input that was typed before a question.
//!
//! One [`Keyboard`] is kept for a whole run, because a read that was cancelled continues in the
//! background. Input that was typed before a question must not answer it.

use std::io;

use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};

/// The lines of stdin.
pub(crate) struct Keyboard(Lines<BufReader<Stdin>>);

impl Keyboard {
    /// Opens stdin; reading starts with the first request for a line. Needs a Tokio runtime.
    pub(crate) fn open() -> Self {
        Self(BufReader::new(stdin()).lines())
    }

    /// Discards what was typed so far, so that it does not answer the next question.
    pub(crate) async fn discard_typed(&mut self) {
        discard_unread();
        // A cancelled read may have received a line meanwhile.
        loop {
            tokio::select! {
                biased;
                line = self.line() => if !matches!(line, Ok(Some(_))) { break },
                () = std::future::ready(()) => break,
            }
        }
    }

    /// Waits for the next line; `None` at the end of the input (Ctrl-D). Cancel safe.
    pub(crate) async fn line(&mut self) -> io::Result<Option<String>> {
        self.0.next_line().await
    }
}

/// Discards unread input of the terminal. Every question begins with this.
#[cfg(unix)]
pub(super) fn discard_unread() {
    use rustix::termios::{QueueSelector, tcflush};
    // It fails only if stdin is not a terminal.
    let _nothing_to_do = tcflush(io::stdin(), QueueSelector::IFlush);
    // Secrets are read from /dev/tty, whatever stdin is.
    if let Ok(terminal) = std::fs::File::open("/dev/tty") {
        let _nothing_to_do = tcflush(terminal, QueueSelector::IFlush);
    }
}

/// On Windows, input typed before a question is kept, because the standard library has no safe call
/// that discards it. Only a whole line with `y` or `yes` agrees there.
#[cfg(not(unix))]
pub(super) fn discard_unread() {}
