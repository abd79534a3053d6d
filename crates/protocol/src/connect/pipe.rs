//! Connects to a server over a pipe that the program opens: in this process, or on any channel.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::lines::{OpenLines, connect_lines};
use super::{ConnectError, ConnectOptions};
use crate::peer::Peer;
use crate::session::{ClientHandler, SessionCore};
use crate::transport::{LineTransport, PipeOpener, pipe};

/// Opens a pipe to a server and connects to it.
///
/// A server that closes the pipe on the modern probe gets a second pipe and the legacy probe.
/// Dropping the future ends the session as [`Peer::close`] does.
///
/// ```
/// use std::sync::Arc;
/// use wharf_protocol::peer::NoHandler;
/// use wharf_protocol::serve::McpServer;
/// use wharf_protocol::view::ClientInfo;
/// use wharf_protocol::{ConnectError, ConnectOptions, Peer, connect_pipe};
///
/// /// Connects to a server in this process.
/// async fn connect(server: &McpServer) -> Result<Peer, ConnectError> {
///     let options = ConnectOptions::new(ClientInfo::new("example", "1.0.0"));
///     connect_pipe(Arc::new(server.clone()), &options, Arc::new(NoHandler)).await
/// }
/// ```
pub async fn connect_pipe(
    opener: Arc<dyn PipeOpener>,
    options: &ConnectOptions,
    handler: Arc<dyn ClientHandler>,
) -> Result<Peer, ConnectError> {
    connect_lines(&PipeServer { opener, limit: options.timeout }, options, handler).await
}

/// A server that is reached over pipes.
struct PipeServer {
    opener: Arc<dyn PipeOpener>,
    /// How long connecting may take in all.
    limit: Duration,
}

impl OpenLines for PipeServer {
    async fn open(
        &self,
        core: &Arc<SessionCore>,
        until: Instant,
    ) -> Result<LineTransport, ConnectError> {
        match tokio::time::timeout_at(until, self.opener.open()).await {
            Ok(opened) => Ok(pipe::open(core, opened.map_err(ConnectError::Open)?)),
            Err(_) => Err(ConnectError::TimedOut { limit: self.limit, stderr: String::new() }),
        }
    }
}
