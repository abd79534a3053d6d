//! Reads what somebody types, line by line, while other work goes on.
//!
//! One is kept for a whole run, because a read that somebody gave up goes on. What was typed before
//! a question must not answer it.

use std::io;

use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};

/// What is typed on the standard input.
pub(crate) struct Keyboard(Lines<BufReader<Stdin>>);

impl Keyboard {
    /// Listens; nothing is read before somebody wants a line. Needs a Tokio runtime.
    pub(crate) fn open() -> Self {
        Self(BufReader::new(stdin()).lines())
    }

    /// Forgets what was typed before there was a question, so that it answers none.
    pub(crate) async fn forget(&mut self) {
        forget_unread();
        // Whoever waited last may have left a line that arrived since.
        loop {
            tokio::select! {
                biased;
                line = self.line() => if !matches!(line, Ok(Some(_))) { break },
                () = std::future::ready(()) => break,
            }
        }
    }

    /// Waits for the next line; none if the input was ended, as with Ctrl-D. May be dropped.
    pub(crate) async fn line(&mut self) -> io::Result<Option<String>> {
        self.0.next_line().await
    }
}

/// Forgets what the terminal has and nobody has read.
#[cfg(unix)]
fn forget_unread() {
    use rustix::termios::{QueueSelector, tcflush};
    // What is no terminal any more has nothing to forget.
    let _nothing_to_do = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Elsewhere the terminal keeps it.
#[cfg(not(unix))]
fn forget_unread() {}
