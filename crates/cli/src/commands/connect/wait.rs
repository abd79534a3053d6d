//! Waits for the servers that a verb needs.
//!
//! A server whose last attempt failed is waited for only briefly, unless it is named. `unawaited`
//! reports such servers.

use std::sync::Arc;

use wharf::{Runtime, ServerSnapshot, Snapshot, Status};

/// Waits for the tools. Connects a lazy server only if its tools are not cached.
pub(crate) async fn ready(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |server| server.tools() == 0).await;
    runtime.ready().await
}

/// Waits until every server, including lazy ones, has connected or failed.
pub(crate) async fn settled(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |_| true).await;
    runtime.settled().await
}

/// Waits like [`settled`], but only briefly for servers whose last attempt failed.
pub(crate) async fn settled_except_failing(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |_| true).await;
    runtime.settled_except_failing().await
}

/// Connects lazy servers.
async fn wake(runtime: &Runtime, is_needed: impl Fn(&ServerSnapshot) -> bool) {
    let snapshot = runtime.snapshot();
    let asleep = snapshot.servers().filter(|server| server.status == Status::Disconnected);
    for server in asleep.filter(|server| is_needed(server)) {
        runtime.wake(server.name.as_str()).await;
    }
}
