//! Reads what somebody types, line by line, while other work goes on.
//!
//! One is kept for a whole run: a line that nobody waits for any more belongs to who asks next.

use std::io;

use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};

/// What is typed on the standard input.
pub(crate) struct Keyboard(Lines<BufReader<Stdin>>);

impl Keyboard {
    /// Listens; nothing is read before somebody wants a line. Needs a Tokio runtime.
    pub(crate) fn open() -> Self {
        Self(BufReader::new(stdin()).lines())
    }

    /// Waits for the next line; none if the input was ended, as with Ctrl-D. May be dropped.
    pub(crate) async fn line(&mut self) -> io::Result<Option<String>> {
        self.0.next_line().await
    }
}
