//! Approvers without ceremony: closures, `AllowAll`, `DenyAll` and policies, and stored answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use wharf::approval::{
    AllowAll, ApprovalAnswer, ApprovalLifetime, ApprovalPolicy, ApprovalRequest, DenyAll,
};
use wharf::call::CallErrorReason;
use wharf::{Event, Runtime, RuntimeBuilder};

use super::world::{CallCount, notes};

fn with_notes(calls: &CallCount) -> RuntimeBuilder {
    Runtime::builder().server("notes", notes(calls))
}

async fn denied(runtime: &Runtime, tool: &str) -> Option<CallErrorReason> {
    runtime.settled().await;
    runtime.call(tool, ()).await.error.map(|error| error.reason)
}

#[tokio::test]
async fn without_an_approver_a_call_that_needs_approval_is_denied() {
    let calls = CallCount::default();
    let runtime = with_notes(&calls).start().await.unwrap();
    assert_eq!(denied(&runtime, "notes/write_note").await, Some(CallErrorReason::Denied));
    assert_eq!(calls.get(), 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn closures_constants_and_policies_are_approvers() {
    let calls = CallCount::default();
    let policy = ApprovalPolicy::new().allow("notes/read_*").deny("notes/write_*");
    let closure = async |request: ApprovalRequest| match request.tool.as_str() {
        "write_note" => ApprovalAnswer::no("notes are read-only today"),
        _ => ApprovalAnswer::Yes,
    };
    for (builder, expected) in [
        (with_notes(&calls).approver(AllowAll), [None, None]),
        (with_notes(&calls).approver(DenyAll), [Some(CallErrorReason::Denied); 2]),
        (with_notes(&calls).approver(policy), [None, Some(CallErrorReason::Denied)]),
        (with_notes(&calls).approver(closure), [None, Some(CallErrorReason::Denied)]),
    ] {
        let runtime = builder.start().await.unwrap();
        let reasons =
            [denied(&runtime, "notes/read_note").await, denied(&runtime, "notes/write_note").await];
        assert_eq!(reasons, expected);
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn the_approver_gets_the_whole_arguments() {
    let seen = Arc::new(Mutex::new(None));
    let record = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest| {
        *record.lock().unwrap() = Some((request.server, request.tool, request.arguments));
        std::future::ready(ApprovalAnswer::Yes)
    };
    let runtime = with_notes(&CallCount::default()).approver(approver).start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/write_note", r#"{"text":"hi"}"#).await.ok());
    let (server, tool, arguments) = seen.lock().unwrap().take().unwrap();
    assert_eq!((server.as_str(), tool.as_str()), ("notes", "write_note"));
    assert_eq!(arguments.as_str(), r#"{"text":"hi"}"#);
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_answer_for_good_is_stored_and_counts_in_the_next_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    for _ in 0..2 {
        let count = Arc::clone(&asked);
        let approver = move |_: ApprovalRequest| {
            count.fetch_add(1, Ordering::SeqCst);
            std::future::ready(ApprovalAnswer::AlwaysTool(ApprovalLifetime::Permanent))
        };
        let builder = with_notes(&CallCount::default()).approver(approver);
        let runtime = builder.store_in(folder.path()).start().await.unwrap();
        assert_eq!(denied(&runtime, "notes/write_note").await, None);
        assert_eq!(denied(&runtime, "notes/write_note").await, None);
        runtime.shutdown().await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_counts_for_the_session_and_is_a_problem() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::ready(ApprovalAnswer::AlwaysServer(ApprovalLifetime::Permanent))
    };
    let builder = with_notes(&CallCount::default()).approver(approver);
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    for tool in ["notes/write_note", "notes/read_note", "notes/write_note"] {
        assert_eq!(denied(&runtime, tool).await, None);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    runtime.shutdown().await;
    let mut codes = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Problem { problem, .. } = event {
            codes.push(problem.code);
        }
    }
    assert_eq!(codes, ["approval-not-stored"]);
}

#[tokio::test]
async fn the_approver_learns_whether_the_hints_are_those_of_a_pinned_tool() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest| {
        record.lock().unwrap().push((request.is_pinned, request.hints.read_only));
        std::future::ready(ApprovalAnswer::Yes)
    };
    let builder = Runtime::builder().server("notes", notes(&CallCount::default()));
    let runtime = builder.approver(approver).start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/read_note", ()).await.ok());
    assert_eq!(*seen.lock().unwrap(), [(true, Some(true))]);
    runtime.shutdown().await;
}
