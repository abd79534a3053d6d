//! Tests servers that send a lot: one at a time, each in its first era, with bounded memory.

use std::sync::Arc;

use tokio::sync::Semaphore;
use wharf_protocol::connect_stdio;
use wharf_protocol::peer::{EndReason, RequestError};
use wharf_testkit::quirk::{ModeTag, QuirkMode, http_modes, stdio_modes};

use super::handler::TestHandler;
use super::limits::{LIMIT, RunLimits};
use super::{check, left_running, run};

const GIGABYTE: usize = 1 << 30;

/// The limit for memory growth: the largest message, twice while its buffer grows, and some more.
const MAX_KIB: u64 = 200 << 10;

/// Lets one test run at a time, so that the measured memory belongs to it.
static TURN: Semaphore = Semaphore::const_new(1);

fn heavy_modes(modes: &[QuirkMode]) -> Vec<QuirkMode> {
    let heavy = modes.iter().filter(|mode| mode.has(ModeTag::Heavy));
    let mut heavy: Vec<QuirkMode> = heavy.copied().collect();
    for mode in &mut heavy {
        mode.eras = &mode.eras[..1];
    }
    heavy
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_servers_on_stdio_behave_as_their_mode_says() {
    let _turn = TURN.acquire().await.unwrap();
    let tag = format!("{}-heavy", std::process::id());
    check(heavy_modes(stdio_modes()), 1, |mode, era| {
        let tag = tag.clone();
        async move { run::stdio(&mode, era, &tag).await }
    })
    .await;
    assert_eq!(left_running(&tag), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_servers_on_http_behave_as_their_mode_says() {
    let _turn = TURN.acquire().await.unwrap();
    check(heavy_modes(http_modes()), 1, |mode, era| async move { run::http(&mode, era).await })
        .await;
}

/// Calls a server that floods, and returns how the call and then the session ended.
async fn flooded(name: &str, limit: usize) -> (Result<(), RequestError>, Option<EndReason>) {
    let mode = stdio_modes().iter().find(|mode| mode.name == name).unwrap();
    let limits = RunLimits { bytes: Some(GIGABYTE), ..RunLimits::for_mode(mode) };
    let tag = format!("{}-{name}", std::process::id());
    let spec = run::program(mode, mode.eras[0], &limits, &tag);
    let mut options = run::options(mode, &limits);
    options.limits.message = limit;
    let peer = connect_stdio(&spec, &options, Arc::new(TestHandler)).await.unwrap();
    let called = run::call(&peer, mode, &limits.call).await;
    let mut reason = None;
    if called.is_err() {
        let ended = tokio::time::timeout(LIMIT, peer.ended()).await;
        reason = Some(ended.unwrap_or_else(|_| panic!("{name} does not end")).reason.clone());
    }
    peer.close().await;
    assert_eq!(left_running(&tag), [""; 0]);
    (called.map(drop), reason)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gigabyte_on_stdout_costs_little_memory_and_ends_in_a_clear_error() {
    let _turn = TURN.acquire().await.unwrap();
    let before = peak_kib();
    // A message is skipped up to 32 times the limit, so nearly all of it is read.
    let limit = 31 << 20;
    let (called, ended) = flooded("flood-without-end", limit).await;
    assert!(matches!(called, Err(RequestError::TooLarge { .. })), "{called:?}");
    assert!(matches!(ended, Some(EndReason::EndlessMessage)), "{ended:?}");
    let (called, ended) = flooded("flood-of-junk-for-ever", limit).await;
    assert!(matches!(called, Err(RequestError::Lost { .. })), "{called:?}");
    assert!(matches!(ended, Some(EndReason::NotMcp)), "{ended:?}");
    assert_bounded(before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gigabyte_on_stderr_costs_little_memory_and_the_call_works() {
    let _turn = TURN.acquire().await.unwrap();
    let before = peak_kib();
    let (called, _) = flooded("flood-on-stderr", 64 << 20).await;
    assert!(called.is_ok(), "{called:?}");
    assert_bounded(before);
}

fn assert_bounded(before: u64) {
    let grown = peak_kib() - before;
    println!("{grown} KiB");
    assert!(grown < MAX_KIB, "{grown} KiB");
}

/// Returns the peak memory of this process; 0 where the system does not report it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}
