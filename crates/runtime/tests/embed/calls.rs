//! Arguments and limits of calls, and what a call says about a server that is not there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use wharf::approval::{AllowAll, ApprovalAnswer, ApprovalRequest};
use wharf::arguments::Arguments;
use wharf::call::{CallErrorKind, CallErrorReason, CallPhase, PhaseTracker};
use wharf::config::{Approval, Catalog, Http, Settings, Stdio};
use wharf::protocol::Json;
use wharf::protocol::serve::{FunctionTool, ToolReply, ToolService};
use wharf::{CallContext, CallOptions, Env, Event, Options, Runtime, RuntimeBuilder, Status};

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

#[tokio::test(start_paused = true)]
async fn the_time_until_the_approval_does_not_count_for_the_setting_that_limits_calls() {
    let limit = Duration::from_secs(60);
    let slow = move |_: ApprovalRequest| async move {
        tokio::time::sleep(2 * limit).await;
        ApprovalAnswer::Yes
    };
    let settings = Settings::default().with("call.max_ms", limit).unwrap();
    let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
    let runtime = builder.approver(slow).settings(settings).start().await.unwrap();
    runtime.settled().await;
    let outcome = runtime.call("notes/write_note", ()).await;
    assert_eq!(outcome.error, None);
    let error = runtime.call("notes/hang", ()).idle_timeout(10 * limit).await.error.unwrap();
    assert_eq!((error.reason, error.outcome_known), (CallErrorReason::TimedOut, false));
    runtime.shutdown().await;
}

/// Makes a runtime whose approver decides about every tool but `write_note`.
fn undecided_about_writes() -> RuntimeBuilder {
    let approver = |request: ApprovalRequest| async move {
        match request.tool.as_str() {
            "write_note" => std::future::pending().await,
            _ => ApprovalAnswer::Yes,
        }
    };
    Runtime::builder().server("notes", notes(&CallCount::default())).approver(approver)
}

/// Runs a call until it has been sent.
async fn run_until_sent(call: &mut (impl Future + Unpin), tracker: &PhaseTracker) {
    while tracker.phase() != CallPhase::Receive {
        assert!(futures_util::poll!(&mut *call).is_pending());
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_sent_stays_unknown_if_another_call_shares_its_options() {
    let runtime = undecided_about_writes().start().await.unwrap();
    runtime.settled().await;
    let options = CallOptions { deadline: Some(LIMIT), ..CallOptions::default() };
    let call = |tool: &str| runtime.call(tool, ()).with_options(options.clone()).into_future();
    let (mut sent, mut waiting) = (call("notes/hang"), call("notes/write_note"));
    run_until_sent(&mut sent, &options.phase_tracker).await;
    assert!(futures_util::poll!(&mut waiting).is_pending());
    assert_eq!(options.phase_tracker.phase(), CallPhase::Send);
    let (sent, waiting) = (sent.await.error.unwrap(), waiting.await.error.unwrap());
    assert_eq!((sent.outcome_known, sent.kind), (false, CallErrorKind::Terminal));
    assert_eq!((waiting.outcome_known, waiting.kind), (true, CallErrorKind::Transient));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_dropped_call_is_recorded_as_cancelled() {
    let builder = undecided_about_writes();
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let (tracker, context) = (PhaseTracker::default(), CallContext::new("agent-7", "research"));
    let hang = runtime.call("notes/hang", ()).track_phase(&tracker).context(context);
    let mut hang = hang.into_future();
    run_until_sent(&mut hang, &tracker).await;
    drop(hang);
    let mut waiting = runtime.call("notes/write_note", ()).into_future();
    assert!(futures_util::poll!(&mut waiting).is_pending());
    drop(waiting);
    drop(runtime.call("notes/read_note", ()).into_future());
    runtime.shutdown().await;
    let mut records = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Called(record) = event {
            assert_eq!(record.reason, Some(CallErrorReason::Cancelled));
            assert_eq!(record.details.server_name, "notes");
            let context = record.context.as_ref().map(|it| it.id().to_owned());
            records.push((record.details.mcp_tool_name.clone(), record.outcome_known, context));
        }
    }
    let expected = [("hang", false, Some("agent-7")), ("write_note", true, None)];
    let expected =
        expected.map(|(tool, known, id)| (tool.to_owned(), known, id.map(str::to_owned)));
    assert_eq!(records, expected);
}

#[tokio::test]
async fn an_approval_does_not_count_for_a_server_that_replaces_the_approved_one() {
    let (before, after) = (CallCount::default(), CallCount::default());
    let (asked, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let approver = move |_: ApprovalRequest| {
        let (answer, answered) = tokio::sync::oneshot::channel();
        asked.send(answer).unwrap();
        async move { answered.await.unwrap() }
    };
    let mut catalog = Catalog::new(&Env::of_process());
    catalog.insert("notes", notes(&before));
    let options = Options { approver: Some(Arc::new(approver)), ..Options::new(Env::of_process()) };
    let runtime = Runtime::start(&catalog, options);
    runtime.settled().await;
    let deciding = async {
        let first: tokio::sync::oneshot::Sender<ApprovalAnswer> = requests.recv().await.unwrap();
        catalog.insert("notes", notes(&after));
        assert_eq!(runtime.apply(&catalog).await.unwrap().changed.len(), 1);
        runtime.settled().await;
        first.send(ApprovalAnswer::Yes).unwrap();
        let second = requests.recv().await.expect("the approver is asked about the new server");
        second.send(ApprovalAnswer::no("not this one")).unwrap();
    };
    let (outcome, ()) = tokio::join!(runtime.call("notes/write_note", ()).into_future(), deciding);
    assert_eq!(outcome.error.unwrap().reason, CallErrorReason::Denied);
    assert_eq!((before.get(), after.get()), (0, 0));
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
    for name in ["mcp_notes_read_note", "notes/read_note", "read_note"] {
        runtime.disconnect("notes").await.unwrap();
        assert_eq!(runtime.status("notes"), Some(Status::Disconnected));
        let outcome = runtime.call(name, ()).await;
        assert_eq!(outcome.error, None, "{name}");
        assert_eq!(runtime.status("notes"), Some(Status::Connected));
    }
    runtime.shutdown().await;
}

/// Opens a pipe to a server once, which ends when it is told to; later nobody answers.
struct LosingOpener {
    server: wharf::protocol::serve::McpServer,
    opened: CallCount,
    ends: Arc<tokio::sync::Notify>,
}

impl wharf::protocol::transport::PipeOpener for LosingOpener {
    fn open(
        &self,
    ) -> wharf::protocol::transport::BoxFuture<'_, std::io::Result<wharf::protocol::transport::Pipe>>
    {
        if self.opened.add() > 0 {
            return Box::pin(std::future::pending());
        }
        let (ours, theirs) = tokio::io::duplex(4096);
        let (server, ends) = (self.server.clone(), Arc::clone(&self.ends));
        let serving = async move {
            let (input, output) = tokio::io::split(theirs);
            tokio::select! {
                _ = server.serve_stdio(input, output) => {}
                () = ends.notified() => {}
            }
        };
        let (reader, writer) = tokio::io::split(ours);
        let pipe = wharf::protocol::transport::Pipe::new(reader, writer).with_task(serving);
        Box::pin(std::future::ready(Ok(pipe)))
    }
}

#[tokio::test]
async fn a_call_of_a_server_that_is_reconnecting_says_that_it_was_not_connected_in_time() {
    let ends = Arc::new(tokio::sync::Notify::new());
    let now = FunctionTool::new("now", async |_| Ok(ToolReply::text("noon")));
    let server = ToolService::new("far", "1.0.0").tool(now);
    let opener = LosingOpener {
        server: server.into_server(),
        opened: CallCount::default(),
        ends: Arc::clone(&ends),
    };
    let builder =
        Runtime::builder().server("far", wharf::custom_transport(opener).approval(Approval::Never));
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("far/now", ()).await.ok());
    ends.notify_one();
    let lost = async {
        while runtime.status("far") != Some(Status::Reconnecting) {
            events.next().await;
        }
    };
    tokio::time::timeout(LIMIT, lost).await.unwrap();
    let short = Duration::from_millis(50);
    for name in ["far/now", "far/other", "now"] {
        let error = runtime.call(name, ()).idle_timeout(short).await.error.unwrap();
        assert_eq!(error.message, "the server was not connected within 50ms", "{name}");
        assert_eq!((error.kind, error.outcome_known), (CallErrorKind::Transient, true), "{name}");
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
    assert!(matches!(runtime.apply(&catalog).await, Err(wharf::Unavailable::ShutDown)));
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
async fn a_raw_request_whose_effect_the_runtime_tracks_is_refused() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let refused = [
        ("initialize", "`connect`"),
        ("server/discover", "`connect`"),
        ("subscriptions/listen", "`subscribe_resource`"),
        ("resources/subscribe", "`subscribe_resource`"),
        ("resources/unsubscribe", "`unsubscribe_resource`"),
        ("logging/setLevel", "`set_log_level`"),
        ("tasks/cancel", "`call`"),
        ("notifications/cancelled", "not a request"),
    ];
    for (method, instead) in refused {
        let error = runtime.request("notes", method, None).await.unwrap_err();
        assert_eq!((error.reason, error.outcome_known), (CallErrorReason::Unsendable, true));
        assert!(error.message.contains(method) && error.message.contains(instead), "{error}");
    }
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_panicking_approver_or_progress_listener_costs_that_call_alone() {
    let calls = CallCount::default();
    let panics = |request: ApprovalRequest| {
        assert!(request.tool != "write_note", "an approver that panics on purpose");
        std::future::ready(ApprovalAnswer::Yes)
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
