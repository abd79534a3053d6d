//! Arguments and limits of calls, and what a call says about a server that is not there.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use wharf::approval::{AllowAll, ApprovalRequest};
use wharf::arguments::Arguments;
use wharf::call::{CallErrorKind, CallErrorReason};
use wharf::config::{Approval, Catalog, Http, Stdio};
use wharf::protocol::Json;
use wharf::{Env, Runtime, Status};

use super::world::{CallCount, LIMIT, notes, start_with_notes};

async fn open_runtime() -> Runtime {
    let entry = notes(&CallCount::default()).approval(Approval::Never);
    let runtime = Runtime::builder().server("notes", entry).start().await.unwrap();
    runtime.settled().await;
    runtime
}

#[derive(Serialize)]
struct Note {
    text: &'static str,
}

#[tokio::test]
async fn every_form_of_arguments_arrives_as_the_same_json() {
    let runtime = open_runtime().await;
    let json: Json = r#"{"text":"hi"}"#.parse().unwrap();
    let forms: [Arguments; 6] = [
        json!({ "text": "hi" }).into(),
        (&json!({ "text": "hi" })).into(),
        Arguments::of(&Note { text: "hi" }),
        r#"{"text":"hi"}"#.into(),
        json.clone().into(),
        (&json).into(),
    ];
    for arguments in forms {
        let outcome = runtime.call("notes/read_note", arguments).await;
        assert_eq!(outcome.text, r#"{"text":"hi"}"#);
    }
    assert_eq!(runtime.call("notes/read_note", ()).await.text, "{}");
    runtime.shutdown().await;
}

#[tokio::test]
async fn arguments_that_are_no_json_object_are_a_misuse_and_nothing_is_sent() {
    let calls = CallCount::default();
    let entry = notes(&calls).approval(Approval::Never);
    let runtime = Runtime::builder().server("notes", entry).start().await.unwrap();
    runtime.settled().await;
    for text in ["{", "[1]", "5", "null x", "{} {}"] {
        let outcome = runtime.call("notes/read_note", text).await;
        let error = outcome.error.unwrap_or_else(|| panic!("{text:?} was accepted"));
        assert_eq!(
            (error.reason, error.kind),
            (CallErrorReason::BadArguments, CallErrorKind::Misuse),
            "{text:?}: {error}"
        );
    }
    assert_eq!(calls.get(), 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_deadline_includes_the_approval() {
    let calls = CallCount::default();
    let never = |_: ApprovalRequest| std::future::pending();
    let builder = Runtime::builder().server("notes", notes(&calls)).approver(never);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let limit = Duration::from_millis(50);
    let outcome = runtime.call("notes/read_note", ()).deadline(limit).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.reason, CallErrorReason::TimedOut);
    assert!(error.outcome_known, "it was not sent: {error}");
    assert_eq!(outcome.details.server_name, "notes");
    assert!(outcome.details.duration >= limit);
    assert_eq!(calls.get(), 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_idle_timeout_limits_a_silent_server_and_a_deadline_the_whole_call() {
    let runtime = open_runtime().await;
    let short = Duration::from_millis(50);
    for call in [
        runtime.call("notes/hang", ()).idle_timeout(short),
        runtime.call("notes/hang", ()).deadline(short),
        runtime.call("notes/hang", ()).deadline(short).idle_timeout(LIMIT),
        runtime.call("notes/hang", ()).deadline(LIMIT).idle_timeout(short),
    ] {
        let began = Instant::now();
        let error = call.await.error.unwrap();
        assert_eq!(error.reason, CallErrorReason::TimedOut);
        assert!(!error.outcome_known, "it was sent: {error}");
        assert_eq!(error.kind, CallErrorKind::Terminal);
        assert!(began.elapsed() < LIMIT);
    }
    assert!(runtime.call("notes/read_note", ()).await.ok(), "the connection is still there");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_disconnected_server_is_connected_by_a_call() {
    let runtime = open_runtime().await;
    runtime.disconnect("notes").await.unwrap();
    assert_eq!(runtime.status("notes"), Some(Status::Disconnected));
    let unknown = runtime.call("mcp_notes_read_note", ()).await;
    // Its tools are gone, so only a name with the server's name leads to it.
    if let Some(error) = unknown.error {
        assert_ne!(error.reason, CallErrorReason::UnknownTool, "{error}");
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_says_so_and_never_that_the_tool_is_unknown() {
    let runtime = Runtime::builder()
        .env(Env::of_process())
        .server("missing", Stdio::new("wharf-no-such-program").approval(Approval::Never))
        .server("refused", Http::new("http://127.0.0.1:1/mcp").approval(Approval::Never))
        .start()
        .await
        .unwrap();
    runtime.settled().await;
    for name in ["missing/any", "mcp_missing_any", "refused/any"] {
        let outcome = runtime.call(name, ()).idle_timeout(LIMIT).await;
        let error = outcome.error.unwrap();
        assert_ne!(error.reason, CallErrorReason::UnknownTool, "{name}: {error}");
        assert_ne!(error.kind, CallErrorKind::Misuse, "{name}: {error}");
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tool_of_a_server_that_is_still_connecting_is_transient() {
    let (_ours, theirs) = tokio::io::duplex(64);
    let theirs = std::sync::Mutex::new(Some(theirs));
    let opener = SilentOpener(theirs);
    let entry = wharf::custom_transport(opener).approval(Approval::Never);
    let runtime = Runtime::builder().server("slow", entry).start().await.unwrap();
    let short = Duration::from_millis(50);
    for name in ["slow/any", "some_tool"] {
        let outcome = runtime.call(name, ()).idle_timeout(short).await;
        assert!(outcome.text.contains("slow"), "{name}: {}", outcome.text);
        let error = outcome.error.unwrap();
        assert_eq!(error.kind, CallErrorKind::Transient, "{name}: {error}");
    }
    runtime.shutdown().await;
}

/// Opens a pipe behind which nobody answers.
struct SilentOpener(std::sync::Mutex<Option<tokio::io::DuplexStream>>);

impl wharf::protocol::transport::PipeOpener for SilentOpener {
    fn open(
        &self,
    ) -> wharf::protocol::transport::BoxFuture<'_, std::io::Result<wharf::protocol::transport::Pipe>>
    {
        let stream = self.0.lock().unwrap().take();
        Box::pin(async move {
            let Some(stream) = stream else { return std::future::pending().await };
            let (reader, writer) = tokio::io::split(stream);
            Ok(wharf::protocol::transport::Pipe::new(reader, writer))
        })
    }
}

#[tokio::test]
async fn everything_after_shutdown_says_so() {
    let runtime = open_runtime().await;
    let tool = runtime.tools().remove(0);
    let view = runtime.view(wharf::ViewOptions::new().approver(AllowAll));
    runtime.shutdown().await;
    let outcomes = [
        runtime.call("notes/read_note", ()).await,
        runtime.call("nothing/at_all", ()).await,
        runtime.call("unknown", ()).await,
        runtime.call(&tool, ()).await,
        view.call("notes/read_note", ()).await,
    ];
    for outcome in outcomes {
        let error = outcome.error.unwrap();
        assert_eq!(error.message, "the runtime was shut down", "{:?}", outcome.details);
        assert_eq!(error.kind, CallErrorKind::Terminal);
    }
    let read = runtime.read_resource("notes", "x").await.unwrap_err();
    assert_eq!(read.message, "the runtime was shut down");
    let connect = runtime.connect("notes").await.unwrap_err();
    assert_eq!(connect.to_string(), "the runtime was shut down");
    let catalog = Catalog::new(&Env::of_process());
    assert!(runtime.apply(&catalog).await.removed.is_empty());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_raw_request_reaches_one_server_and_cannot_call_a_tool() {
    let calls = CallCount::default();
    let runtime = start_with_notes(&calls).await;
    let tools = runtime.request("notes", "tools/list", None).await.unwrap();
    assert_eq!(tools.get("tools").unwrap().items().unwrap().len(), 5);
    let params = r#"{"name":"write_note","arguments":{}}"#.parse().unwrap();
    let refused = runtime.request("notes", "tools/call", Some(&params)).await.unwrap_err();
    assert!(refused.message.contains("`call`"), "{refused}");
    assert_eq!(calls.get(), 0);
    let unknown = runtime.request("notes", "custom/method", None).await.unwrap_err();
    assert_eq!(unknown.reason, CallErrorReason::ErrorResponse);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_panicking_approver_or_progress_listener_costs_that_call_alone() {
    let calls = CallCount::default();
    let panics = |request: ApprovalRequest| {
        assert!(request.tool != "write_note", "an approver that panics on purpose");
        std::future::ready(wharf::approval::ApprovalAnswer::Yes)
    };
    let builder = Runtime::builder().server("notes", notes(&calls)).approver(panics);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let denied = runtime.call("notes/write_note", ()).await.error.unwrap();
    assert_eq!(denied.reason, CallErrorReason::Denied);
    let listening = runtime.call("notes/read_note", ()).on_progress(|_| panic!("on purpose"));
    assert!(listening.await.ok());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tool_with_the_name_of_two_servers_is_ambiguous_and_a_path_is_not() {
    let entry = || notes(&CallCount::default()).approval(Approval::Never);
    let runtime =
        Runtime::builder().server("one", entry()).server("two", entry()).start().await.unwrap();
    runtime.settled().await;
    let ambiguous = runtime.call("read_note", ()).await.error.unwrap();
    assert_eq!(ambiguous.kind, CallErrorKind::Misuse);
    assert!(ambiguous.hint.as_ref().unwrap().contains("mcp_one_read_note"), "{ambiguous}");
    assert!(runtime.call("two/read_note", ()).await.ok());
    runtime.shutdown().await;
}
