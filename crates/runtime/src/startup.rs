//! When a caller that wants the tools gets its answer: the startup gate, and who is waited for
//! after it.
//!
//! A server that could not be connected the last time is given one second after the gate, not its
//! whole limit: nobody waits twice for the same trouble. Whoever names that server, or requires it,
//! waits in full.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout_at;
use wharf_config::ServerName;

use crate::connections::{ServerSnapshot, Snapshot, SupervisorCommand};
use crate::options::StartupMode;
use crate::runtime::Runtime;
use crate::store::attempts::LastAttempt;

/// How long after the gate a server is waited for whose last attempt failed.
const FAILED_SERVER_WAIT: Duration = Duration::from_secs(1);

impl Runtime {
    /// Waits for the tools, but never for a server whose tools are known from an earlier time.
    ///
    /// Until the gate (250 ms after the start unless set otherwise) every server has its chance to
    /// be live. After it, servers without cached tools, and required ones, are waited for only in
    /// the mode [`StartupMode::Complete`], each within its own limit; a server whose last attempt
    /// in an earlier run failed, and that is not required, for one second.
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

    /// Waits until no server is on its way any more: what is listed then is live.
    pub async fn settled(&self) -> Arc<Snapshot> {
        self.wait_for_snapshot(|snapshot| snapshot.pending().next().is_none()).await
    }

    /// Waits until every server is connected or has failed, except that a server whose last attempt
    /// in an earlier run failed is waited for only until one second after the gate.
    pub async fn settled_except_failing(&self) -> Arc<Snapshot> {
        self.wait_for_needed(|_| true).await
    }

    /// Begins to connect a server that is lazy, was closed or has failed, and does not wait for it.
    pub async fn wake(&self, server: &str) {
        let server = ServerName::new(server);
        self.send_command(|done| SupervisorCommand::Wake { server, done }).await;
    }

    /// Returns how the last attempt to connect to a server ended in an earlier run.
    pub fn last_attempt(&self, server: &str) -> Option<LastAttempt> {
        let snapshot = self.snapshot();
        let trusted = snapshot.server(server)?.trusted.as_ref()?;
        self.0.shared.history.earlier_attempt(trusted)
    }

    /// Waits until none of the servers that are needed is on its way, but not twice for the same
    /// trouble.
    pub(crate) async fn wait_for_needed(
        &self,
        is_needed: impl Fn(&ServerSnapshot) -> bool,
    ) -> Arc<Snapshot> {
        // Who asks again later does not wait again.
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
