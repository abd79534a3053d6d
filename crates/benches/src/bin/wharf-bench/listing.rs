//! The verb `list`: how long it takes to list all tools, and how much memory that needs.

use std::time::Instant;

use wharf_benches::{BenchTarget, CallTimes, peak_kib};

use crate::Failure;
use crate::connect_spec::{ConnectSpec, request_options};

/// Lists all tools `count` times on one connection; each list is dropped before the next.
pub(crate) async fn run(count: usize, target: &BenchTarget) -> Result<String, Failure> {
    let peer = ConnectSpec::new(target)?.connect().await?;
    let mut times = CallTimes::default();
    let mut peak = None;
    for _ in 0..count {
        let started = Instant::now();
        let listing = peer.list_tools(&request_options()).await?;
        times.push(started.elapsed());
        peak = peak.or_else(peak_kib);
        if listing.items.is_empty() {
            return Err("the list has no tools".into());
        }
    }
    peer.close().await;
    let peak = peak.map_or_else(|| "null".to_owned(), |kib| kib.to_string());
    Ok(format!(r#"{{"p50_us": {:.2}, "peak_kib": {peak}}}"#, times.percentile(50)))
}
