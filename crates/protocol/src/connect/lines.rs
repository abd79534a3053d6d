//! Connects over a byte stream with one message per line: to a process, or over a pipe.
//!
//! A server that ends on the modern probe is opened a second time and gets the legacy probe.

use std::sync::Arc;

use tokio::time::Instant;

use super::probe::{ProbeOutcome, new_core, new_peer, probe};
use super::{ConnectError, ConnectOptions};
use crate::era::Negotiation;
use crate::peer::{ClientConnection, Peer};
use crate::session::{ClientHandler, EndReason, RequestError, SessionCore, SessionEnd};
use crate::transport::{ClientTransport, LineTransport};

/// Opens the byte stream of one attempt.
pub(super) trait OpenLines {
    /// Opens it, until this instant. When the future is dropped, `core` is stopped.
    fn open(
        &self,
        core: &Arc<SessionCore>,
        until: Instant,
    ) -> impl Future<Output = Result<LineTransport, ConnectError>> + Send;
}

/// Connects to a server, with as many attempts as the negotiation needs.
pub(super) async fn connect_lines(
    server: &impl OpenLines,
    options: &ConnectOptions,
    handler: Arc<dyn ClientHandler>,
) -> Result<Peer, ConnectError> {
    let (mut negotiation, mut first) = Negotiation::begin(options.known_revision());
    let until = Instant::now() + options.timeout;
    loop {
        let core = new_core(options, &handler);
        let unwanted = core.stop.clone().drop_guard();
        let transport = server.open(&core, until).await?;
        let connection = ClientConnection::new(core, ClientTransport::Lines(transport));
        unwanted.disarm();
        let probing = probe(&connection, &mut negotiation, first, options);
        let failure = match tokio::time::timeout_at(until, probing).await {
            Ok(Ok(ProbeOutcome::Settled { revision, result })) => {
                return Ok(new_peer(connection, revision, result, options));
            }
            Ok(Ok(ProbeOutcome::Restart(probe))) => {
                first = probe;
                connection.close().await;
                continue;
            }
            Ok(Ok(ProbeOutcome::TryHttpSse(error)) | Err(error)) => {
                ConnectError::failed(error, connection.stderr())
            }
            Err(_) => timeout_error(&connection, options),
        };
        connection.close().await;
        return Err(failure);
    }
}

/// Returns the error for a timeout. A program that wrote only text is not an MCP server.
fn timeout_error(connection: &ClientConnection, options: &ConnectOptions) -> ConnectError {
    let stderr = connection.stderr();
    if !connection.core.received_no_message() {
        return ConnectError::TimedOut { limit: options.timeout, stderr };
    }
    let ended = Arc::new(SessionEnd { reason: EndReason::NotMcp, stderr });
    ConnectError::failed(RequestError::Lost { ended, never_sent: false }, String::new())
}
