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
    pub(crate) async fn discard_typed(&mut self) {
        discard_unread();
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

/// Forgets what the terminal has and nobody has read. Every question begins with this.
#[cfg(unix)]
pub(super) fn discard_unread() {
    use rustix::termios::{QueueSelector, tcflush};
    // What is not a terminal has nothing to forget.
    let _nothing_to_do = tcflush(io::stdin(), QueueSelector::IFlush);
    // Secrets are read from here, whatever the standard input is.
    if let Ok(terminal) = std::fs::File::open("/dev/tty") {
        let _nothing_to_do = tcflush(terminal, QueueSelector::IFlush);
    }
}

/// On Windows the console keeps what was typed: there is no safe call in the standard library that
/// discards it. Answers there need a line of their own, and only `y` or `yes` agrees.
#[cfg(not(unix))]
pub(super) fn discard_unread() {}
