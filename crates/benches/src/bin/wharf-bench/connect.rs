//! The verb `connect`: connects to many servers at once and lists all their tools.

use std::time::Instant;

use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;
use wharf_benches::BenchTarget;
use wharf_protocol::Peer;
use wharf_protocol::peer::ListResult;
use wharf_protocol::transport::process::reserve_descriptors;
use wharf_protocol::view::ToolDefinition;

use crate::Failure;
use crate::connect_spec::{ConnectSpec, request_options};

/// Connects, prints the numbers, and keeps the connections open until stdin is closed.
pub(crate) async fn run(count: usize, target: &BenchTarget) -> Result<(), Failure> {
    let started = Instant::now();
    reserve_descriptors(count);
    let spec = ConnectSpec::new(target)?;
    let connecting = (0..count).map(|_| connect_and_list(&spec));
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

async fn connect_and_list(
    spec: &ConnectSpec,
) -> Result<(Peer, ListResult<ToolDefinition>), Failure> {
    let peer = spec.connect().await?;
    let listing = peer.list_tools(&request_options()).await?;
    Ok((peer, listing))
}
