//! Benchmark of views: the memory of one, and calls through many against calls of the runtime.
//!
//! A view with patterns, an approver, a limit and a context may take 2 KiB. 10 000 calls through
//! 1 000 views may take 1.2 times as long as through the runtime: a view has no lock on the path of
//! a call. The server runs in this process. Run by `cargo xtask bench`; exits with 1 if a bar is
//! exceeded.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its numbers and stops at the first error"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::json;
use wharf::approval::AllowAll;
use wharf::protocol::serve::{FunctionTool, ToolReply, ToolService};
use wharf::{Approval, CallContext, Outcome, Runtime, View, ViewOptions, in_process};
use wharf_benches::resident_kib;

/// How many bytes of memory a view may take.
const MAX_VIEW_BYTES: u64 = 2048;

/// Calls through views may take this many times as long as calls of the runtime.
const MAX_RATIO: f64 = 1.2;

/// The views whose memory is measured; many, because memory is counted in pages.
const MEASURED_VIEWS: usize = 20_000;

/// The views that are called, and the calls.
const VIEWS: usize = 1000;
const CALLS: usize = 10_000;

/// How many calls run at the same time.
const AT_ONCE: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let runtime = start().await;
    let memory = memory(&runtime);
    // Measured again after a failure, because other load on the machine can cause one.
    let mut calls = false;
    for _ in 0..3 {
        calls = calls || time(&runtime).await;
    }
    runtime.shutdown().await;
    if memory && calls { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Starts a runtime with one server that has 20 tools.
async fn start() -> Runtime {
    let mut service = ToolService::new("notes", "1.0.0");
    for number in 0..20 {
        let schema = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
        let name = format!("read_{number}");
        let tool = FunctionTool::new(&name, async |_| Ok(ToolReply::text("a note")));
        service = service.tool(tool.description("Reads.").input_schema(schema));
    }
    let entry = in_process(service.into_server()).approval(Approval::Never);
    let runtime = Runtime::builder().server("notes", entry).start().await.expect("it starts");
    runtime.settled().await;
    runtime
}

fn view(runtime: &Runtime, number: usize) -> View {
    let context = CallContext::new(format!("agent-{number}"), "a subagent");
    runtime.view(
        ViewOptions::new()
            .servers(["notes", "docs-*"])
            .tools(["notes/read_*", "docs-*/search"])
            .approver(AllowAll)
            .max_call(Duration::from_secs(60))
            .context(context),
    )
}

fn memory(runtime: &Runtime) -> bool {
    // Memory that the first views need once is not counted.
    let warm: Vec<View> = (0..100).map(|number| view(runtime, number)).collect();
    let before = resident_kib();
    let views: Vec<View> = (0..MEASURED_VIEWS).map(|number| view(runtime, number)).collect();
    let Some((before, after)) = before.zip(resident_kib()) else {
        println!("memory of a view: the system does not report the memory");
        return true;
    };
    let bytes = after.saturating_sub(before) * 1024 / MEASURED_VIEWS as u64;
    println!("{:<32} {bytes:>8} bytes, bar {MAX_VIEW_BYTES}", "memory of a view");
    drop((warm, views));
    bytes <= MAX_VIEW_BYTES
}

async fn time(runtime: &Runtime) -> bool {
    let views: Vec<View> = (0..VIEWS).map(|number| view(runtime, number)).collect();
    let tool = |number: usize| format!("notes/read_{}", number % 20);
    let direct = run((0..CALLS).map(|number| runtime.call(&tool(number), ()))).await;
    let through = run((0..CALLS).map(|number| views[number % VIEWS].call(&tool(number), ()))).await;
    let ratio = through.as_secs_f64() / direct.as_secs_f64();
    println!(
        "{:<32} {direct:>10.2?} {through:>10.2?} {ratio:>6.2}, bar {MAX_RATIO}",
        "10 000 calls: runtime, 1 000 views"
    );
    ratio <= MAX_RATIO
}

/// Makes all calls, 64 at a time; returns how long they took.
async fn run<F: IntoFuture<Output = Outcome>>(calls: impl Iterator<Item = F>) -> Duration {
    let began = Instant::now();
    let mut outcomes =
        futures_util::stream::iter(calls.map(IntoFuture::into_future)).buffer_unordered(AT_ONCE);
    let mut count = 0;
    while let Some(outcome) = outcomes.next().await {
        assert!(outcome.ok(), "{}", outcome.text);
        count += 1;
    }
    assert_eq!(count, CALLS);
    began.elapsed()
}
