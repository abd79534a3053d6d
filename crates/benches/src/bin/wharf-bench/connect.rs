//! The verb `connect`: many servers at once, until all tools of all are listed.

use std::time::Instant;

use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;
use wharf_benches::Target;
use wharf_protocol::Peer;
use wharf_protocol::peer::ListResult;
use wharf_protocol::transport::process::reserve_descriptors;
use wharf_protocol::view::ToolDefinition;

use crate::Failure;
use crate::peer::{Way, patience};

/// Connects, tells the numbers, and holds the connections until the end of the input.
pub(crate) async fn run(count: usize, target: &Target) -> Result<(), Failure> {
    let started = Instant::now();
    reserve_descriptors(count);
    let way = Way::to(target)?;
    let connecting = (0..count).map(|_| one(&way));
    let connected = futures_util::future::try_join_all(connecting).await?;
    let ready = started.elapsed().as_secs_f64() * 1e3;
    let tools: usize = connected.iter().map(|(_, listing)| listing.items.len()).sum();
    println!(r#"{{"ready_ms": {ready:.2}, "tools": {tools}}}"#);
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    let mut closing = JoinSet::new();
    for (peer, _) in connected {
        closing.spawn(async move { peer.close().await });
    }
    closing.join_all().await;
    Ok(())
}

async fn one(way: &Way) -> Result<(Peer, ListResult<ToolDefinition>), Failure> {
    let peer = way.connect().await?;
    let listing = peer.list_tools(&patience()).await?;
    Ok((peer, listing))
}
