//! Tests that a panic in code of the host fails one call or one server, and does not affect
//! others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use insta::assert_snapshot;
use serde_json::json;
use wharf::approval::{ApprovalAnswer, ApprovalRequest, Approver};
use wharf::protocol::Json;
use wharf::protocol::envelope::Notification;
use wharf::protocol::peer::{ClientHandler, HandlerFuture, RequestCause, RequestOptions};
use wharf::protocol::transport::BoxFuture;
use wharf::protocol::transport::process::ProcessLaunch;
use wharf::protocol::view::send::{ClientInfo, ElicitationAnswer, ElicitationSupport, Object};
use wharf::protocol::{ConnectOptions, StdioSpec, connect_stdio};
use wharf::{
    ClientFeatures, CredentialQuery, CredentialStore, CredentialStoreError, ElicitationRequest,
    Elicitor, Options, Runtime, StoredCredential, TraceSink,
};
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, LIMIT, call, render};

/// A store that panics at every request until it is repaired.
#[derive(Default)]
struct BrokenStore {
    is_repaired: AtomicBool,
}

impl CredentialStore for BrokenStore {
    fn find(
        &self,
        _: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        assert!(self.is_repaired.load(Ordering::SeqCst), "the store of a test fails on purpose");
        Ok(None)
    }
}

#[tokio::test]
async fn a_connection_task_that_panics_is_one_failed_server_and_others_go_on() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &Script::with_tools(["echo"]), json!({}));
    let auth = json!({ "auth": { "type": "bearer", "credentialId": "any" } });
    fixture.actor("bad", &Script::with_tools(["echo"]), auth);
    let store = Arc::new(BrokenStore::default());
    let credentials: Arc<dyn CredentialStore> = Arc::clone(&store) as _;
    let options = Options { credentials, ..fixture.options() };
    let runtime = Runtime::start(&fixture.catalog(), options);
    assert_snapshot!(render(&*runtime.settled().await), @"
    bad failed 0: internal error: the connection task panicked
    fs connected 1
    ");
    assert_eq!(call(&runtime, "mcp_fs_echo", json!({})).await, "done");

    store.is_repaired.store(true, Ordering::SeqCst);
    runtime.connect("bad").await.unwrap();
    assert_eq!(call(&runtime, "mcp_bad_echo", json!({})).await, "done");
    runtime.shutdown().await;
}

/// An approver that panics when it is called or later in its future.
struct BrokenApprover {
    at_once: bool,
}

impl Approver for BrokenApprover {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        assert!(!self.at_once, "the approver of a test fails on purpose");
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("the approver of a test fails on purpose")
        })
    }
}

#[tokio::test]
async fn an_approver_that_panics_fails_the_call_without_approving_it() {
    for at_once in [true, false] {
        let mut fixture = Fixture::new();
        let actor_log =
            fixture.actor("fs", &Script::with_tools(["a"]), json!({ "approval": "ask" }));
        let approver: Arc<dyn Approver> = Arc::new(BrokenApprover { at_once });
        let options = Options { approver: Some(approver), ..fixture.options() };
        let runtime = Runtime::start(&fixture.catalog(), options);
        runtime.settled().await;
        assert_eq!(
            call(&runtime, "mcp_fs_a", json!({})).await,
            "TERMINAL Denied known=true the call was not approved: the approver panicked"
        );
        assert_eq!(render(&runtime.snapshot()), "fs connected 1");
        assert!(actor_log.effects().is_empty());
        runtime.shutdown().await;
    }
}

/// Panics at every notification.
struct BrokenHandler;

impl ClientHandler for BrokenHandler {
    fn on_notification(&self, _: Notification) {
        panic!("the handler of a test fails on purpose");
    }

    fn on_request(&self, _: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        panic!("the handler of a test fails on purpose");
    }
}

#[tokio::test]
async fn a_handler_that_panics_misses_the_notification_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let actor_log = Script::with_tools(["do"]).write(folder.path());
    let mut launch = ProcessLaunch::new(env!("CARGO_BIN_EXE_wharf-actor"));
    launch.arguments = vec![folder.path().into()];
    let options = ConnectOptions::new(ClientInfo::new("test", "1"));
    let peer =
        connect_stdio(&StdioSpec::new(launch), &options, Arc::new(BrokenHandler)).await.unwrap();
    let arguments: Json = json!({ "notify": "notifications/harbour" }).to_string().parse().unwrap();
    let arguments = Object::try_from(arguments).unwrap();
    for _ in 0..2 {
        peer.call_tool("do", Some(&arguments), &RequestOptions::within(LIMIT)).await.unwrap();
    }
    peer.close().await;
    assert!(!actor_log.starts().into_iter().any(|process| actor_log.is_alive(process)));
}

/// Panics when it is asked what it supports.
struct BrokenElicitor;

impl Elicitor for BrokenElicitor {
    fn support(&self) -> ElicitationSupport {
        panic!("the elicitor of a test fails on purpose");
    }

    fn elicit(&self, _: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        panic!("the elicitor of a test fails on purpose");
    }
}

#[tokio::test]
async fn a_trace_sink_and_an_elicitor_that_panic_cost_no_call() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &Script::with_tools(["do"]), json!({}));
    let client_features =
        ClientFeatures { elicitor: Some(Arc::new(BrokenElicitor)), ..ClientFeatures::default() };
    let trace: TraceSink = Arc::new(|_| panic!("the sink of a test fails on purpose"));
    let options = Options { client_features, trace: Some(trace), ..fixture.options() };
    let runtime = Runtime::start(&fixture.catalog(), options);
    runtime.settled().await;
    assert_eq!(render(&runtime.snapshot()), "fs connected 1");
    assert_eq!(call(&runtime, "mcp_fs_do", json!({ "log": "ahoy" })).await, "done");
    let form = json!({ "message": "Which berth?", "requestedSchema": { "type": "object" } });
    let question = json!({ "method": "elicitation/create", "params": form });
    let rejected = r#"{"code":-32603,"message":"the client failed to answer"}"#;
    assert_eq!(call(&runtime, "mcp_fs_do", json!({ "ask": question })).await, rejected);
    runtime.shutdown().await;
}
