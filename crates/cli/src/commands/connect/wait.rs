//! Waits for what a verb needs, and not for more.
//!
//! A server that could not be connected the last time is not waited for in full again unless it is
//! named; what is said about it then is in `unawaited`.

use std::sync::Arc;

use wharf::{Runtime, ServerSnapshot, Snapshot, Status};

/// Waits for the tools; a server that connects only when it is needed is needed if its tools are
/// not known.
pub(crate) async fn ready(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |server| server.tools() == 0).await;
    runtime.ready().await
}

/// Waits until every server, also one that connects only when it is needed, has answered or failed.
pub(crate) async fn settled(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |_| true).await;
    runtime.settled().await
}

/// Waits like [`settled`], but not twice for the same trouble.
pub(crate) async fn settled_except_failing(runtime: &Runtime) -> Arc<Snapshot> {
    wake(runtime, |_| true).await;
    runtime.settled_except_failing().await
}

/// Connects servers that wait to be needed.
async fn wake(runtime: &Runtime, is_needed: impl Fn(&ServerSnapshot) -> bool) {
    let snapshot = runtime.snapshot();
    let asleep = snapshot.servers().filter(|server| server.status == Status::Disconnected);
    for server in asleep.filter(|server| is_needed(server)) {
        runtime.wake(server.name.as_str()).await;
    }
}
