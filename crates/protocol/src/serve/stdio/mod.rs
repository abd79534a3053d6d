//! A server on two pipes: one message per line, both eras on the same line if need be.
//!
//! One task reads and writes; a call that is not answered at once goes on in a task of its own. The
//! end of the input ends everything, after calls under way had a short time to finish.

mod connection;
mod lines;
mod output_queue;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use self::connection::StdioConnection;
use self::lines::{InputLines, MAX_LINE_BYTES};
pub(crate) use self::output_queue::OutputQueue;
use super::McpServer;
use crate::transport::OutputLine;

/// How long calls may go on after the input has ended.
const END_GRACE: Duration = Duration::from_secs(2);

/// How long the client may take to read what is left to say.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// After so many lines the writer gets a turn, even if more lines are here.
const LINES_PER_TURN: usize = 64;

impl McpServer {
    /// Serves one client on two pipes until its input ends or the server is closed.
    ///
    /// Fails if the pipes do. Dropping the future ends the reading at once; calls under way are
    /// cancelled.
    pub async fn serve_stdio<R, W>(&self, input: R, output: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let connection = StdioConnection::new(self.core());
        let queue = connection.output();
        let mut writing = std::pin::pin!(queue.write_to(output));
        let reading = async {
            let read = tokio::select! {
                biased;
                read = read_all(&connection, input) => read,
                () = self.core().closing().cancelled() => Ok(()),
            };
            connection.finish(END_GRACE).await;
            read
        };
        let read = tokio::select! {
            biased;
            read = reading => read,
            written = &mut writing => return written,
        };
        queue.close();
        let written = tokio::time::timeout(DRAIN_TIMEOUT, writing).await;
        read.and(written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())))
    }
}

async fn read_all(connection: &StdioConnection, input: impl AsyncRead + Unpin) -> io::Result<()> {
    let mut lines = InputLines::new(input, MAX_LINE_BYTES);
    let mut lines_read = 0;
    loop {
        connection.output().wait_for_room().await;
        match lines.next().await? {
            None => return Ok(()),
            Some(OutputLine::TooLong(_)) => connection.refuse_long_line(),
            Some(OutputLine::Whole(line)) => connection.handle_line(line).await,
        }
        lines_read += 1;
        if lines_read % LINES_PER_TURN == 0 {
            tokio::task::yield_now().await;
        }
    }
}
