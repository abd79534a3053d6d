//! Waits for what a verb needs, and not for more.

use std::sync::Arc;

use tokio::task::JoinSet;
use wharf::{Runtime, ServerView, Snapshot, Status};

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

/// Connects servers that wait to be needed.
async fn wake(runtime: &Runtime, is_needed: impl Fn(&ServerView) -> bool) {
    let mut woken = JoinSet::new();
    let snapshot = runtime.snapshot();
    let asleep = snapshot.servers().filter(|server| server.status == Status::Disconnected);
    for server in asleep.filter(|server| is_needed(server)) {
        let (runtime, name) = (runtime.clone(), server.name.clone());
        // What comes of it is in the snapshot.
        woken.spawn(async move { drop(runtime.wait_for(name.as_str()).await) });
    }
    woken.join_all().await;
}
