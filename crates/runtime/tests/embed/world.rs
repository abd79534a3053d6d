//! What the tests share: a server in this process, builders, and limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wharf::config::ServerEntry;
use wharf::protocol::serve::{FunctionCall, FunctionTool, ToolReply, ToolService};
use wharf::{Runtime, in_process};

/// The limit for everything that must happen.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// Counts calls that reached a tool.
#[derive(Clone, Default)]
pub(super) struct CallCount(Arc<AtomicUsize>);

impl CallCount {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub(super) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Makes a server with the tools `read_note` and `write_note`, which count and return their
/// arguments, and `fail`, `panic` and `hang`.
pub(super) fn notes(calls: &CallCount) -> ServerEntry {
    let counted = || {
        let calls = calls.clone();
        move |call: FunctionCall| {
            calls.add();
            std::future::ready(Ok(ToolReply::text(call.arguments.as_str())))
        }
    };
    let service = ToolService::new("notes", "1.0.0")
        .tool(FunctionTool::new("read_note", counted()).description("Reads a note.").read_only())
        .tool(FunctionTool::new("write_note", counted()).description("Writes a note."))
        .tool(FunctionTool::new("fail", async |_| Err("the disk is full".to_owned())))
        .tool(FunctionTool::new("panic", async |_| panic!("on purpose")))
        .tool(FunctionTool::new("hang", async |_| std::future::pending().await));
    in_process(service.into_server())
}

/// Starts a runtime with the server `notes`, whose calls need approval, and waits for it.
pub(super) async fn start_with_notes(calls: &CallCount) -> Runtime {
    let runtime = Runtime::builder().server("notes", notes(calls)).start().await.unwrap();
    runtime.settled().await;
    runtime
}
