//! The stdio transport of a server: one message per line, both eras on the same connection.
//!
//! One task reads and writes; a call that is not answered immediately continues in a spawned task.
//! At the end of the input, running calls get a short time to finish.

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
use crate::transport::LimitedLine;

/// How long calls may continue after the end of the input.
pub(super) const END_GRACE: Duration = Duration::from_secs(2);

/// How long the client may take to read the remaining messages.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// After this many lines the reader yields to the writer, even if more lines are available.
const LINES_PER_TURN: usize = 64;

impl McpServer {
    /// Serves one client on two pipes until its input ends or the server is closed.
    ///
    /// Fails if reading or writing fails. Dropping the future cancels the running calls.
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
            Some(LimitedLine::TooLong(_)) => connection.refuse_long_line(),
            Some(LimitedLine::Whole(line)) => connection.handle_line(line).await,
        }
        lines_read += 1;
        if lines_read % LINES_PER_TURN == 0 {
            tokio::task::yield_now().await;
        }
    }
}
