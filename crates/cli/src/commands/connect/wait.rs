//! Waits for the servers that a verb needs.
//!
//! A server whose last attempt failed is waited for only briefly, unless it is named. `unawaited`
//! reports such servers.

use std::sync::Arc;

use wharf::{Runtime, ServerSnapshot, Snapshot, Status};

/// Waits for the tools. Connects a lazy server only if its tools are not cached.
pub(crate) async fn ready(runtime: &Runtime) -> Arc<Snapshot> {
    connect_lazy(runtime, |server| server.tools() == 0).await;
    runtime.ready().await
}

/// Waits until every server, including lazy ones, has connected or failed.
pub(crate) async fn settled(runtime: &Runtime) -> Arc<Snapshot> {
    connect_lazy(runtime, |_| true).await;
    runtime.settled().await
}

/// Waits like [`settled`], but only briefly for servers whose last attempt failed.
pub(crate) async fn settled_except_failing(runtime: &Runtime) -> Arc<Snapshot> {
    connect_lazy(runtime, |_| true).await;
    runtime.settled_except_failing().await
}

/// Starts connecting lazy servers.
async fn connect_lazy(runtime: &Runtime, is_needed: impl Fn(&ServerSnapshot) -> bool) {
    let snapshot = runtime.snapshot();
    let disconnected = snapshot.servers().filter(|server| server.status == Status::Disconnected);
    for server in disconnected.filter(|server| is_needed(server)) {
        runtime.connect_in_background(server.name.as_str()).await;
    }
}
