//! Servers in this process, and servers behind a pipe that the program opens.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wharf::config::Approval;
use wharf::protocol::serve::{McpServer, ToolReply, ToolService};
use wharf::protocol::transport::{BoxFuture, Pipe, PipeOpener};
use wharf::{Event, Runtime, Status, custom_transport, in_process};

use super::world::{CallCount, LIMIT, notes};

fn one_tool(name: &str, text: &'static str) -> McpServer {
    ToolService::new("test", "1.0.0")
        .tool(name, "Says something.", json!({ "type": "object" }), move |_| {
            std::future::ready(Ok(ToolReply::text(text)))
        })
        .into_server()
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
    let double = ToolService::new("math", "1.0.0").tool(
        "double",
        "Doubles.",
        json!({ "type": "object", "properties": { "n": { "type": "integer" } } }),
        async |arguments| {
            let n = arguments.get("n").and_then(|n| n.to::<i64>()).ok_or("\"n\" is missing")?;
            Ok(ToolReply::structured(json!({ "result": 2 * n }).to_string().parse().unwrap()))
        },
    );
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
