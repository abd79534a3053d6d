//! Views: which tools they show and call, who approves their calls, their limits and contexts.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use wharf::approval::{AllowAll, ApprovalAnswer, ApprovalRequest, DenyAll};
use wharf::call::CallErrorReason;
use wharf::config::Approval;
use wharf::{CallContext, Event, Runtime, View, ViewOptions};

use super::world::{CallCount, LIMIT, notes, start_with_notes};

fn names(view: &View) -> Vec<String> {
    view.tools().iter().map(|tool| tool.tool().to_owned()).collect()
}

#[tokio::test]
async fn a_view_shows_and_calls_only_its_tools() {
    let calls = CallCount::default();
    let runtime = start_with_notes(&calls).await;
    let readers = runtime.view(ViewOptions::new().tools(["notes/read_*"]).approver(AllowAll));
    assert_eq!(names(&readers), ["read_note"]);
    assert!(readers.call("notes/read_note", ()).await.ok());
    let hidden = readers.call("notes/write_note", ()).await;
    assert_eq!(hidden.error.unwrap().reason, CallErrorReason::UnknownTool);
    let write = runtime.tools().into_iter().find(|tool| tool.tool() == "write_note").unwrap();
    let by_handle = readers.call(&write, ()).await;
    assert_eq!(by_handle.error.unwrap().reason, CallErrorReason::UnknownTool);
    assert_eq!(calls.get(), 1, "only the tool of the view was called");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_view_without_a_server_says_that_there_is_no_such_server() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let other = runtime.view(ViewOptions::new().servers(["docs", "web-*"]).approver(AllowAll));
    assert!(other.tools().is_empty() && other.servers().is_empty());
    let unknown = other.call("mcp_notes_read_note", ()).await.error.unwrap();
    assert_eq!(unknown.reason, CallErrorReason::UnknownTool);
    let read = other.read_resource("notes", "file:///x").await.unwrap_err();
    let nowhere = runtime.read_resource("nowhere", "file:///x").await.unwrap_err();
    assert_eq!(
        read.to_string(),
        nowhere.to_string().replace("nowhere", "notes"),
        "a server outside of the view looks like one that does not exist"
    );
    assert_eq!((read.reason, read.kind), (nowhere.reason, nowhere.kind));
    let raw = other.request("notes", "ping", None).await.unwrap_err();
    assert_eq!(raw.to_string(), read.to_string());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_view_of_a_view_only_narrows() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let notes = runtime.view(ViewOptions::new().tools(["notes/*_note"]).approver(AllowAll));
    let wider = notes.view(ViewOptions::new().tools(["*/*"]).servers(["*"]));
    assert_eq!(names(&wider), ["read_note", "write_note"]);
    let narrower = wider.view(ViewOptions::new().tools(["notes/read*", "notes/fail"]));
    assert_eq!(names(&narrower), ["read_note"]);
    let limited = notes.view(ViewOptions::new().max_call(Duration::from_millis(20)));
    let patient = limited.view(ViewOptions::new().max_call(LIMIT).tools(["notes"]));
    assert_eq!(names(&patient), ["read_note", "write_note"]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_shortest_limit_of_all_views_counts() {
    let runtime = start_with_notes(&CallCount::default()).await;
    let short = Duration::from_millis(30);
    let limited = runtime.view(ViewOptions::new().max_call(short).approver(AllowAll));
    let patient = limited.view(ViewOptions::new().max_call(LIMIT));
    let error = patient.call("notes/hang", ()).deadline(LIMIT).await.error.unwrap();
    assert_eq!(error.reason, CallErrorReason::TimedOut);
    assert!(error.message.contains("30ms"), "{}", error.message);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_approver_of_a_view_replaces_that_of_the_runtime_and_deeper_views_can_only_deny() {
    let calls = CallCount::default();
    let builder = Runtime::builder().server("notes", notes(&calls)).approver(DenyAll);
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/write_note", ()).await.is_error);
    let open = runtime.view(ViewOptions::new().approver(AllowAll));
    assert!(open.call("notes/write_note", ()).await.ok());
    let closed = open.view(ViewOptions::new().approver(DenyAll));
    assert!(closed.call("notes/write_note", ()).await.is_error);
    let reopened = closed.view(ViewOptions::new().approver(AllowAll));
    assert!(reopened.call("notes/write_note", ()).await.is_error, "a deeper view allows no more");
    let inherited = runtime.view(ViewOptions::new());
    assert!(inherited.call("notes/write_note", ()).await.is_error);
    assert_eq!(calls.get(), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_context_of_a_view_reaches_the_approver_and_the_record_of_the_call() {
    let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest| {
        let id = request.context.map(|context| context.id().to_owned());
        record.lock().unwrap().push(id);
        std::future::ready(ApprovalAnswer::Yes)
    };
    let agent = ViewOptions::new().context(CallContext::new("agent-7", "research"));
    let view = runtime.view(agent.approver(approver));
    let below = view.view(ViewOptions::new());
    let other = CallContext::new("turn-3", "turn 3");
    assert!(view.call("notes/write_note", ()).await.ok());
    assert!(below.call("notes/write_note", ()).await.ok());
    assert!(below.call("notes/write_note", ()).context(other).await.ok());
    let expected = ["agent-7", "agent-7", "turn-3"];
    assert_eq!(*seen.lock().unwrap(), expected.map(|id| Some(id.to_owned())));
    runtime.shutdown().await;
    let mut recorded = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Called(record) = event {
            let context = record.context.as_ref().map(CallContext::id);
            recorded.push(context.unwrap_or_default().to_owned());
            assert_eq!(record.details.mcp_tool_name, "write_note");
        }
    }
    assert_eq!(recorded, expected);
}

#[tokio::test]
async fn settings_that_deny_a_tool_deny_it_in_every_view() {
    let entry = notes(&CallCount::default()).approval(Approval::Deny);
    let runtime = Runtime::builder().server("notes", entry).start().await.unwrap();
    runtime.settled().await;
    let view = runtime.view(ViewOptions::new().approver(AllowAll));
    let error = view.call("notes/read_note", json!({})).await.error.unwrap();
    assert_eq!(error.reason, CallErrorReason::Denied);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_thousand_views_share_one_connection() {
    let calls = CallCount::default();
    let runtime = start_with_notes(&calls).await;
    let views: Vec<View> = (0..1000)
        .map(|number| {
            let context = CallContext::new(format!("agent-{number}"), "agent");
            runtime.view(
                ViewOptions::new().tools(["notes/*_note"]).approver(AllowAll).context(context),
            )
        })
        .collect();
    let all = views.iter().map(|view| view.call("notes/read_note", ()).into_future());
    let outcomes = futures_util::future::join_all(all).await;
    assert!(outcomes.iter().all(wharf::call::Outcome::ok));
    assert_eq!(calls.get(), 1000);
    runtime.shutdown().await;
}
