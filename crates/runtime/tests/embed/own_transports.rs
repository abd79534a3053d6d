//! Servers in this process, and servers behind a pipe that the program opens.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wharf::approval::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest};
use wharf::config::{Approval, ServerEntry};
use wharf::protocol::serve::{FunctionCall, FunctionTool, McpServer, ToolReply, ToolService};
use wharf::protocol::transport::{BoxFuture, Pipe, PipeOpener};
use wharf::{Catalog, Env, Event, Runtime, Status, custom_transport, in_process};

use super::world::{CallCount, LIMIT, notes};

fn one_tool(name: &str, text: &'static str) -> McpServer {
    let tool = FunctionTool::new(name, move |_| std::future::ready(Ok(ToolReply::text(text))));
    ToolService::new("test", "1.0.0").tool(tool).into_server()
}

#[tokio::test]
async fn servers_in_this_process_share_the_registry_with_all_others() {
    let calls = CallCount::default();
    let runtime = Runtime::builder()
        .server("notes", notes(&calls).approval(Approval::Never))
        .server("clock", in_process(one_tool("now", "noon")).approval(Approval::Never))
        .start()
        .await
        .unwrap();
    let snapshot = runtime.settled().await;
    let names: Vec<&str> = snapshot.registry().tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(
        names,
        [
            "mcp_clock_now",
            "mcp_notes_fail",
            "mcp_notes_hang",
            "mcp_notes_panic",
            "mcp_notes_read_note",
            "mcp_notes_write_note"
        ]
    );
    assert_eq!(runtime.call("clock/now", ()).await.text, "noon");
    let outcome = runtime.call("mcp_notes_write_note", json!({ "text": "x" })).await;
    assert_eq!((outcome.ok(), outcome.text.as_str()), (true, r#"{"text":"x"}"#));
    assert_eq!(outcome.details.server_name, "notes");
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_error_or_a_panic_of_a_tool_in_this_process_fails_that_call_alone() {
    let calls = CallCount::default();
    let runtime = Runtime::builder()
        .server("notes", notes(&calls).approval(Approval::Never))
        .start()
        .await
        .unwrap();
    runtime.settled().await;
    let mut hanging = runtime.call("notes/hang", ()).into_future();
    assert!(futures_util::poll!(&mut hanging).is_pending());
    let failed = runtime.call("notes/fail", ()).await;
    assert_eq!(failed.text, "Error: the disk is full");
    let panicked = runtime.call("notes/panic", ()).await;
    assert!(panicked.is_error && !panicked.text.contains("on purpose"), "{}", panicked.text);
    assert!(runtime.call("notes/read_note", ()).await.ok());
    assert_eq!(runtime.status("notes"), Some(Status::Connected));
    assert!(futures_util::poll!(&mut hanging).is_pending(), "the other call still runs");
    drop(hanging);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_in_this_process_gets_literal_arguments_and_structured_results_arrive() {
    let double = FunctionTool::new("double", async |call: FunctionCall| {
        let n: i64 = call.argument("n")?;
        Ok(ToolReply::structured(json!({ "result": 2 * n })))
    });
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let double = ToolService::new("math", "1.0.0").tool(double.input_schema(schema));
    let entry = in_process(double.into_server()).approval(Approval::Never);
    let runtime = Runtime::builder().server("math", entry).start().await.unwrap();
    runtime.settled().await;
    let outcome = runtime.call("math/double", json!({ "n": 21 })).await;
    assert_eq!(outcome.structured.unwrap().as_str(), r#"{"result":42}"#);
    let missing = runtime.call("math/double", json!({})).await;
    assert_eq!(missing.text, "Error: \"n\" is missing");
    let wrong = runtime.call("math/double", json!({ "n": "many" })).await;
    assert_eq!(wrong.error.unwrap().kind, wharf::call::CallErrorKind::Misuse);
    runtime.shutdown().await;
}

/// Opens pipes to a server, and counts them. The first `refused` attempts fail.
struct CountingOpener {
    server: McpServer,
    opened: Arc<AtomicUsize>,
    refused: usize,
}

impl PipeOpener for CountingOpener {
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        if number < self.refused {
            let refusal = io::Error::new(io::ErrorKind::ConnectionRefused, "no route to the host");
            return Box::pin(std::future::ready(Err(refusal)));
        }
        let (ours, theirs) = tokio::io::duplex(4096);
        let server = self.server.clone();
        let serving = async move {
            let (input, output) = tokio::io::split(theirs);
            server.serve_stdio(input, output).await.unwrap();
        };
        let (reader, writer) = tokio::io::split(ours);
        Box::pin(std::future::ready(Ok(Pipe::new(reader, writer).with_task(serving))))
    }
}

#[tokio::test]
async fn a_pipe_that_cannot_be_opened_is_a_failure_with_its_reason_and_is_tried_again() {
    let opened = Arc::new(AtomicUsize::new(0));
    let failing =
        CountingOpener { server: one_tool("now", "noon"), opened: Arc::clone(&opened), refused: 1 };
    let builder =
        Runtime::builder().server("far", custom_transport(failing).approval(Approval::Never));
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    let failure = tokio::time::timeout(LIMIT, async {
        loop {
            if let Some(Event::Status { failure: Some(failure), .. }) = events.next().await {
                return failure;
            }
        }
    });
    let failure = failure.await.unwrap();
    assert!(failure.message.contains("no route to the host"), "{}", failure.message);
    assert_eq!(runtime.call("far/now", ()).await.text, "noon", "a call connects");
    assert_eq!(opened.load(Ordering::SeqCst), 2);
    let again = runtime.connect("far").await.unwrap();
    assert_eq!((again.status, opened.load(Ordering::SeqCst)), (Status::Connected, 3));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_handle_of_an_unknown_type_fails_that_server_alone() {
    use wharf::config::CustomTransport;
    let foreign = CustomTransport::new(Arc::new(5_u8), CustomTransport::CUSTOM);
    let runtime = Runtime::builder()
        .server("unknown", foreign)
        .server("clock", in_process(one_tool("now", "noon")).approval(Approval::Never))
        .start()
        .await
        .unwrap();
    let snapshot = runtime.settled().await;
    let unknown = snapshot.server("unknown").unwrap();
    assert_eq!(unknown.status, Status::Failed);
    assert_eq!(runtime.call("clock/now", ()).await.text, "noon");
    runtime.shutdown().await;
}

/// Calls a tool of a server twice in a runtime that stores everything in a folder; the approver
/// allows it for good. Returns how often it was asked.
async fn asked_in_a_run(folder: &Path, entry: ServerEntry) -> usize {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::ready(ApprovalAnswer::AlwaysTool(ApprovalLifetime::Permanent))
    };
    let builder = Runtime::builder().server("box", entry).approver(approver).store_in(folder);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    for _ in 0..2 {
        assert_eq!(runtime.call("box/now", ()).await.text, "noon");
    }
    runtime.shutdown().await;
    asked.load(Ordering::SeqCst)
}

fn box_entry() -> ServerEntry {
    let opened = Arc::new(AtomicUsize::new(0));
    custom_transport(CountingOpener { server: one_tool("now", "noon"), opened, refused: 0 })
}

/// Returns how many records about servers are in a folder.
fn stored_count(folder: &Path) -> usize {
    let text = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap_or_default();
    let files = ["cache/tools.json", "cache/attempts.json", "pins/tools.json", "approvals.json"];
    files.iter().filter(|path| text(path).contains("box")).count()
}

#[tokio::test]
async fn nothing_is_stored_about_a_transport_without_an_identity() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let asked = asked_in_a_run(folder.path(), box_entry()).await;
        assert_eq!(asked, 1, "an approval counts for one runtime");
        assert_eq!(stored_count(folder.path()), 0);
    }
}

#[tokio::test]
async fn a_transport_with_another_identity_is_another_server() {
    let folder = tempfile::tempdir().unwrap();
    for (identity, expected) in
        [("ssh staging", 1), ("ssh staging", 0), ("ssh production", 1), ("ssh production", 0)]
    {
        let asked = asked_in_a_run(folder.path(), box_entry().identity(identity)).await;
        assert_eq!(asked, expected, "{identity}");
    }
    assert_eq!(stored_count(folder.path()), 4);
    let approvals = std::fs::read_to_string(folder.path().join("approvals.json")).unwrap();
    assert!(!approvals.contains("staging"), "{approvals}");
}

#[tokio::test]
async fn a_server_in_this_process_is_identified_by_the_name_that_it_declares() {
    let folder = tempfile::tempdir().unwrap();
    let renamed = || {
        let now = FunctionTool::new("now", async |_| Ok(ToolReply::text("noon")));
        in_process(ToolService::new("other", "1.0.0").tool(now).into_server())
    };
    let usual = || in_process(one_tool("now", "noon"));
    for (entry, expected) in [(usual(), 1), (usual(), 0), (renamed(), 1), (renamed(), 0)] {
        assert_eq!(asked_in_a_run(folder.path(), entry).await, expected);
    }
}

#[tokio::test]
async fn a_session_approval_does_not_count_for_another_transport_of_the_same_name() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::ready(ApprovalAnswer::AlwaysServer(ApprovalLifetime::Session))
    };
    let builder = Runtime::builder().server("box", box_entry()).approver(approver);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    for expected in [1, 1] {
        assert!(runtime.call("box/now", ()).await.ok());
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
    let mut other = Catalog::new(&Env::of_process());
    other.insert("box", box_entry());
    runtime.apply(&other).await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("box/now", ()).await.ok());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    runtime.shutdown().await;
}
