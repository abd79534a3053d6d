//! An hour's worth of trouble in a minute: `wharf-soak [OPERATIONS [SEED]]`.
//!
//! Many workers use one runtime at once: they call, cancel, kill, reconnect, change lists and
//! catalogs, at random. Every call must end with an outcome. Afterwards no process, no task and no
//! file may be left, and memory must not have grown along the way.

#![expect(clippy::print_stdout, reason = "it tells what it did and what it found")]

mod act;
mod stage;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;

use crate::act::Worker;
use crate::stage::Stage;
use crate::watch::Usage;

/// How many use the runtime at once.
const WORKERS: u64 = 16;

/// How much memory may be added after the first fifth of the run.
const MOST_GROWTH_KIB: u64 = 16 * 1024;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let operations = numbers.next().unwrap_or(100_000).max(WORKERS * 5);
    let seed = numbers.next().unwrap_or(1);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let complaints = match runtime {
        Ok(runtime) => runtime.block_on(soak(operations, seed)),
        Err(error) => vec![format!("no Tokio runtime: {error}")],
    };
    for complaint in &complaints {
        println!("FAILED: {complaint}");
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs everything and returns what is wrong.
async fn soak(operations: u64, seed: u64) -> Vec<String> {
    let began = Instant::now();
    let stage = match Stage::new() {
        Ok(stage) => Arc::new(stage),
        Err(error) => return vec![format!("no stage: {error}")],
    };
    let before = Usage::now();
    let wharf = match stage.start() {
        Ok(wharf) => wharf,
        Err(error) => return vec![format!("no servers: {error}")],
    };
    wharf.settled().await;
    let mut tallies = act::Tally::default();
    // The first fifth fills every cache there is; what grows after it is a leak.
    let first = operations / 5;
    tallies += act::run(&stage, &wharf, first, seed).await;
    let warm = Usage::now();
    tallies += act::run(&stage, &wharf, operations - first, seed + WORKERS).await;
    let end = Usage::now();
    wharf.shutdown().await;
    drop(wharf);
    let after = watch::settled(&before).await;
    println!("{tallies}");
    println!(
        "{operations} operations in {:.1?}; memory {} KiB warm, {} KiB at the end; {} processes started",
        began.elapsed(),
        warm.memory_kib,
        end.memory_kib,
        stage.starts(),
    );
    let mut complaints = after.compared_with(&before);
    if end.memory_kib > warm.memory_kib + MOST_GROWTH_KIB {
        complaints.push(format!("memory grew by {} KiB", end.memory_kib - warm.memory_kib));
    }
    complaints.extend(stage.left_alive().map(|process| format!("process {process} is left")));
    complaints.extend(tallies.complaints());
    complaints
}

/// Lets all workers run, each with its share.
async fn all(workers: Vec<Worker>) -> act::Tally {
    let mut running = JoinSet::new();
    for worker in workers {
        running.spawn(worker.run());
    }
    let mut tally = act::Tally::default();
    while let Some(done) = running.join_next().await {
        match done {
            Ok(done) => tally += done,
            Err(error) => tally.panicked(&error.to_string()),
        }
    }
    tally
}
