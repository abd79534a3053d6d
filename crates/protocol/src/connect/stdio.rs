//! Connects to a server that is started as a process.

use std::sync::Arc;

use tokio::time::Instant;

use super::lines::{OpenLines, connect_lines};
use super::{ConnectError, ConnectOptions, StdioSpec};
use crate::peer::Peer;
use crate::session::{ClientHandler, SessionCore};
use crate::transport::process::Process;
use crate::transport::{LineTransport, stdio};

/// Starts a server and connects to it.
///
/// A server that exits on the modern probe is started a second time and gets the legacy probe.
/// Dropping the future ends the server with the grace period of `spec`.
pub async fn connect_stdio(
    spec: &StdioSpec,
    options: &ConnectOptions,
    handler: Arc<dyn ClientHandler>,
) -> Result<Peer, ConnectError> {
    connect_lines(spec, options, handler).await
}

impl OpenLines for StdioSpec {
    async fn open(
        &self,
        core: &Arc<SessionCore>,
        _until: Instant,
    ) -> Result<LineTransport, ConnectError> {
        let Self { launch, grace, log } = self.clone();
        let owner = Arc::clone(core);
        // Spawned, so that `core.tasks` tracks the process even if the caller drops this future.
        let starting = core.tasks.spawn(async move {
            let process = Process::start(launch, &owner.tasks, log).await?;
            Ok(stdio::open(&owner, process, grace))
        });
        match starting.await {
            Ok(started) => started.map_err(ConnectError::Start),
            Err(failure) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The task is never aborted, so the runtime is shutting down.
                Err(_) => std::future::pending().await,
            },
        }
    }
}
