//! A server on two pipes: one message per line, both eras on the same line if need be.
//!
//! One task reads and writes; a call that is not answered at once goes on in a task of its own. The
//! end of the input ends everything, after calls under way had a short time to finish.

mod lines;
mod outbox;
mod pipe;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use self::lines::{LONGEST_LINE, Lines};
pub(crate) use self::outbox::Outbox;
use self::pipe::Pipe;
use super::Server;
use crate::transport::Line;

/// How long calls may go on after the input has ended.
const END_GRACE: Duration = Duration::from_secs(2);

/// How long the client may take to read what is left to say.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// After so many lines the writer gets a turn, even if more lines are here.
const LINES_IN_A_ROW: usize = 64;

impl Server {
    /// Serves one client on two pipes until its input ends or the server is closed.
    ///
    /// Fails if the pipes do. Dropping the future ends the reading at once; calls under way are
    /// cancelled.
    pub async fn serve_stdio<R, W>(&self, input: R, output: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let pipe = Pipe::new(self.core());
        let outbox = pipe.outbox();
        let mut writing = std::pin::pin!(outbox.write_to(output));
        let reading = async {
            let read = tokio::select! {
                biased;
                read = read_all(&pipe, input) => read,
                () = self.core().closing().cancelled() => Ok(()),
            };
            pipe.finish(END_GRACE).await;
            read
        };
        let read = tokio::select! {
            biased;
            read = reading => read,
            written = &mut writing => return written,
        };
        outbox.close();
        let written = tokio::time::timeout(LAST_WORDS, writing).await;
        read.and(written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())))
    }
}

async fn read_all(pipe: &Pipe, input: impl AsyncRead + Unpin) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut in_a_row = 0;
    loop {
        pipe.outbox().room().await;
        match lines.next().await? {
            None => return Ok(()),
            Some(Line::TooLong(_)) => pipe.refuse_long_line(),
            Some(Line::Whole(line)) => pipe.take(line).await,
        }
        in_a_row += 1;
        if in_a_row % LINES_IN_A_ROW == 0 {
            tokio::task::yield_now().await;
        }
    }
}
