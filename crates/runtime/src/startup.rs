//! How long a caller waits for tools: the startup gate, and the servers that are awaited after it.
//!
//! A server whose last attempt failed is awaited only until one second after the startup timeout,
//! not for its full limit, so that callers do not wait twice for the same failure. A caller that
//! names that server, or requires it, waits for its full limit.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout_at;
use wharf_config::ServerName;

use crate::connections::{ServerSnapshot, Snapshot, SupervisorCommand};
use crate::options::StartupMode;
use crate::runtime::Runtime;
use crate::store::attempts::LastAttempt;

/// How long after the startup timeout a server is awaited whose last attempt failed.
const FAILED_SERVER_WAIT: Duration = Duration::from_secs(1);

impl Runtime {
    /// Waits for tools, but not for a server whose tools are cached, unless it is required.
    ///
    /// Waits for all servers until the startup timeout (250 ms by default). After it, only the mode
    /// [`StartupMode::Complete`] waits further, and only for servers without cached tools and for
    /// required ones, each within its own limit. A server that is not required and whose last
    /// attempt in an earlier run failed gets one more second.
    pub async fn ready(&self) -> Arc<Snapshot> {
        let (mode, gate) = self.0.startup;
        let gate = self.0.began + gate;
        if let Ok(snapshot) = timeout_at(gate, self.settled()).await {
            return snapshot;
        }
        if mode == StartupMode::Background {
            return self.snapshot();
        }
        self.wait_for_needed(|server| !server.has_known_tools() || server.is_required).await
    }

    /// Waits until no server is connecting: all tools of the snapshot are live.
    pub async fn settled(&self) -> Arc<Snapshot> {
        self.wait_for_snapshot(|snapshot| snapshot.pending().next().is_none()).await
    }

    /// Waits until every server is connected or has failed. A server whose last attempt in an
    /// earlier run failed is awaited only until one second after the startup timeout.
    pub async fn settled_except_failing(&self) -> Arc<Snapshot> {
        self.wait_for_needed(|_| true).await
    }

    /// Starts connecting a server that is lazy, closed or failed, without waiting for it.
    pub async fn connect_in_background(&self, server: &str) {
        let server = ServerName::new(server);
        self.send_command(|done| SupervisorCommand::ConnectNow { server, done }).await;
    }

    /// Returns the outcome of the last attempt to connect to a server in an earlier run.
    pub fn last_attempt(&self, server: &str) -> Option<LastAttempt> {
        let snapshot = self.snapshot();
        let trusted = snapshot.server(server)?.trusted.as_ref()?;
        self.0.shared.history.earlier_attempt(trusted)
    }

    /// Waits until none of the needed servers is connecting, with a short limit for those whose
    /// last attempt failed.
    pub(crate) async fn wait_for_needed(
        &self,
        is_needed: impl Fn(&ServerSnapshot) -> bool,
    ) -> Arc<Snapshot> {
        // The limit counts from the start of the runtime, so later callers do not wait again.
        let until = self.0.began + self.0.startup.1 + FAILED_SERVER_WAIT;
        let is_there = |snapshot: &Snapshot| snapshot.pending().all(|server| !is_needed(server));
        if let Ok(snapshot) = timeout_at(until, self.wait_for_snapshot(is_there)).await {
            return snapshot;
        }
        let has_failed = |server: &&Arc<ServerSnapshot>| {
            let last =
                server.trusted.as_ref().and_then(|it| self.0.shared.history.earlier_attempt(it));
            !server.is_required && last.is_some_and(|last| !last.is_ok())
        };
        let snapshot = self.snapshot();
        let failed: BTreeSet<ServerName> =
            snapshot.pending().filter(has_failed).map(|server| server.name.clone()).collect();
        let is_awaited =
            |server: &Arc<ServerSnapshot>| is_needed(server) && !failed.contains(&server.name);
        self.wait_for_snapshot(|snapshot| !snapshot.pending().any(is_awaited)).await
    }
}
