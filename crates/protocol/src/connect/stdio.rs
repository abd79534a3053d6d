//! Connects to a server that is started as a process.

use std::sync::Arc;
use std::time::Duration;

use super::probe::{ProbeOutcome, new_core, new_peer, probe};
use super::{ConnectError, ConnectOptions, StdioSpec};
use crate::era::Negotiation;
use crate::peer::{ClientConnection, Peer};
use crate::session::{ClientHandler, EndReason, RequestError, SessionEnd};
use crate::transport::process::Process;
use crate::transport::{ClientTransport, stdio};

/// Starts a server and connects to it.
///
/// A server that exits on the modern probe is started a second time and gets the legacy probe.
/// Dropping the future ends the server with the grace period of `spec`.
pub async fn connect_stdio(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: Arc<dyn ClientHandler>,
) -> Result<Peer, ConnectError> {
    let (mut negotiation, mut first) = Negotiation::begin(options.known_revision());
    let until = tokio::time::Instant::now() + options.timeout;
    loop {
        let connection = start(spec, options, &handler).await?;
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
            Err(_) => timeout_error(&connection, options.timeout),
        };
        connection.close().await;
        return Err(failure);
    }
}

/// Returns the error for a timeout. A program that wrote only text is not an MCP server.
fn timeout_error(connection: &ClientConnection, limit: Duration) -> ConnectError {
    let stderr = connection.stderr();
    if !connection.core.received_no_message() {
        return ConnectError::TimedOut { limit, stderr };
    }
    let ended = Arc::new(SessionEnd { reason: EndReason::NotMcp, stderr });
    ConnectError::failed(RequestError::Lost { ended, never_sent: false }, String::new())
}

async fn start(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn ClientHandler>,
) -> Result<ClientConnection, ConnectError> {
    let core = new_core(options, handler);
    let unwanted = core.stop.clone().drop_guard();
    let (StdioSpec { launch, grace, log }, owner) = (spec.clone(), Arc::clone(&core));
    // A separate task, so that a caller that cancels can still wait for the end of a process that
    // is just being started.
    let starting = core.tasks.spawn(async move {
        let process = Process::start(launch, &owner.tasks, log).await?;
        Ok(stdio::open(&owner, process, grace))
    });
    let transport = match starting.await {
        Ok(started) => started.map_err(ConnectError::Start)?,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The task is never aborted, so the runtime is shutting down.
            Err(_) => std::future::pending().await,
        },
    };
    let connection = ClientConnection::new(core, ClientTransport::Stdio(transport));
    unwanted.disarm();
    Ok(connection)
}
