//! Runs many random operations on one runtime, then checks for leaks: `wharf-soak [OPERATIONS
//! [SEED]]`.
//!
//! Several workers (`worker`) use the runtime concurrently: they call, cancel, kill, reconnect,
//! change lists and catalogs. Every call must have an outcome. Afterwards no process, task and file
//! may be left, and the memory must not have grown (`resource_usage`).

#![expect(clippy::print_stdout, reason = "it prints what it did and what it found")]

mod resource_usage;
mod test_servers;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;

use crate::resource_usage::ResourceUsage;
use crate::test_servers::TestServers;
use crate::worker::{OperationCounts, Worker};

/// The number of concurrent workers.
const WORKERS: u64 = 16;

/// The limit for memory growth after the first fifth of the run.
const MAX_GROWTH_KIB: u64 = 16 * 1024;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let operations = numbers.next().unwrap_or(100_000).max(WORKERS * 5);
    let seed = numbers.next().unwrap_or(1);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let problems = match runtime {
        Ok(runtime) => runtime.block_on(soak(operations, seed)),
        Err(error) => vec![format!("could not start Tokio: {error}")],
    };
    for problem in &problems {
        println!("FAILED: {problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all operations and returns the problems.
async fn soak(operations: u64, seed: u64) -> Vec<String> {
    let began = Instant::now();
    let servers = match TestServers::new() {
        Ok(servers) => Arc::new(servers),
        Err(error) => return vec![format!("could not create the servers: {error}")],
    };
    let before = ResourceUsage::now();
    let wharf = match servers.start_runtime() {
        Ok(wharf) => wharf,
        Err(error) => return vec![format!("could not load the servers: {error}")],
    };
    wharf.settled().await;
    let mut counts = OperationCounts::default();
    // The first fifth fills all caches. Memory growth after it is a leak.
    let first = operations / 5;
    counts += worker::run(&servers, &wharf, first, seed).await;
    let warm = ResourceUsage::now();
    counts += worker::run(&servers, &wharf, operations - first, seed + WORKERS).await;
    let end = ResourceUsage::now();
    wharf.shutdown().await;
    drop(wharf);
    let after = resource_usage::after_cleanup(&before).await;
    println!("{counts}");
    println!(
        "{operations} operations in {:.1?}; memory {} KiB warm, {} KiB at the end; {} processes started",
        began.elapsed(),
        warm.memory_kib,
        end.memory_kib,
        servers.starts(),
    );
    let mut problems = after.leaks_since(&before);
    if end.memory_kib > warm.memory_kib + MAX_GROWTH_KIB {
        problems.push(format!("memory grew by {} KiB", end.memory_kib - warm.memory_kib));
    }
    problems.extend(servers.running().map(|process| format!("process {process} still runs")));
    problems.extend(counts.problems());
    problems
}

/// Runs all workers concurrently.
async fn run_all(workers: Vec<Worker>) -> OperationCounts {
    let mut running = JoinSet::new();
    for worker in workers {
        running.spawn(worker.run());
    }
    let mut counts = OperationCounts::default();
    while let Some(done) = running.join_next().await {
        match done {
            Ok(done) => counts += done,
            Err(error) => counts.add_panic(&error.to_string()),
        }
    }
    counts
}
