//! Servers in this process: an [`McpServer`] for clients beside it, over a pipe in memory.

use std::io;
use std::time::Duration;

use super::McpServer;
use super::stdio::END_GRACE;
use crate::transport::{BoxFuture, Pipe, PipeOpener};

/// How many bytes each direction holds before the writer waits.
const CAPACITY: usize = 64 << 10;

/// Each pipe is a connection of its own to the same server; its session serves it.
///
/// A panic of the service while it answers a call costs that call; any other panic of the service
/// costs one session.
impl PipeOpener for McpServer {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        let (client_end, server_end) = tokio::io::duplex(CAPACITY);
        let server = self.clone();
        let serving = async move {
            let (input, output) = tokio::io::split(server_end);
            if let Err(error) = server.serve_stdio(input, output).await {
                tracing::debug!(%error, "serving a client of this process failed");
            }
        };
        let (reader, writer) = tokio::io::split(client_end);
        // Longer than the server waits for its calls.
        let grace = END_GRACE + Duration::from_secs(1);
        let pipe = Pipe::new(reader, writer).with_task(serving).with_grace(grace).in_process();
        Box::pin(std::future::ready(Ok(pipe)))
    }
}
