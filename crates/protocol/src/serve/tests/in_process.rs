//! Our own client connected to a server in the same process, in both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::sample::TestServer;
use crate::era::{Era, Revision};
use crate::peer::{
    ClientHandler, EndReason, HandlerFuture, NoHandler, Peer, ProgressMode, RequestCause,
    RequestError, RequestOptions,
};
use crate::transport::process::TaskTracker;
use crate::view::send::{ClientCapabilities, ClientInfo, ElicitationSupport};
use crate::{ConnectOptions, Json, connect_pipe, envelope};

const ERAS: [Revision; 2] = [Revision::LATEST, Revision::LATEST_LEGACY];

/// Accepts every elicitation.
struct Accepting;

impl ClientHandler for Accepting {
    fn on_notification(&self, _: envelope::Notification) {}

    fn on_request(&self, method: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        assert_eq!(method, "elicitation/create");
        Box::pin(async { Ok(r#"{"action":"accept"}"#.parse().unwrap()) })
    }
}

fn options(revision: Revision) -> ConnectOptions {
    let elicitation = Some(ElicitationSupport { form: true, url: false });
    ConnectOptions {
        pinned: Some(revision),
        capabilities: ClientCapabilities { elicitation, ..ClientCapabilities::default() },
        ..ConnectOptions::new(ClientInfo::new("test", "1"))
    }
}

async fn connect(test: &TestServer, revision: Revision) -> Peer {
    let server = Arc::new(test.server.clone());
    connect_pipe(server, &options(revision), Arc::new(Accepting)).await.unwrap()
}

/// Calls a tool and returns its text, or the error.
async fn call(peer: &Peer, tool: &str) -> String {
    let options = RequestOptions::within(Duration::from_secs(20));
    match peer.call_tool(tool, None, &options).await {
        Ok(result) => result.content()[0].as_text().unwrap().to_string(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_server_in_the_process_is_called_like_any_other() {
    for revision in ERAS {
        let mut test = TestServer::new();
        let peer = connect(&test, revision).await;
        assert_eq!((peer.transport(), peer.revision()), ("in-process", revision));
        assert_eq!(peer.profile().server.name().as_deref(), Some("sample"));
        let options = RequestOptions::within(Duration::from_secs(20));
        assert_eq!(peer.list_tools(&options).await.unwrap().items.len(), 0);
        assert_eq!(call(&peer, "echo").await, "{}");
        assert!(call(&peer, "elicit").await.contains(r#"{"action":"accept"}"#));
        assert_eq!(call(&peer, "nothing").await, "the server answered: Unknown tool (code -32602)");
        peer.close().await;
        if revision.era() == Era::Legacy {
            test.wait_for("session ended").await;
        }
    }
}

#[tokio::test]
async fn progress_and_cancellation_reach_the_other_side() {
    for revision in ERAS {
        let mut test = TestServer::new();
        let peer = connect(&test, revision).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&seen);
        let progress = ProgressMode::Listener(Arc::new(move |params: Json| {
            listener.lock().unwrap().push(params.get("progress").unwrap().as_str().to_owned());
        }));
        let options = RequestOptions { progress, ..RequestOptions::default() };
        peer.call_tool("progress", None, &options).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), ["1.0", "2.0"]);
        tokio::select! {
            outcome = call(&peer, "slow") => panic!("{outcome}"),
            _ = test.wait_for("slow started") => {}
        }
        test.wait_for("slow cancelled").await;
        peer.close().await;
    }
}

#[tokio::test]
async fn a_server_has_any_number_of_connections() {
    let test = TestServer::new();
    let mut peers = Vec::new();
    for number in 0..20 {
        peers.push(connect(&test, ERAS[number % 2]).await);
    }
    let calls = peers.iter().map(|peer| call(peer, "echo"));
    for said in futures_util::future::join_all(calls).await {
        assert_eq!(said, "{}");
    }
    for peer in &peers {
        peer.close().await;
    }
    assert_eq!(test.server.change_notifier().subscriber_count(), 0);
}

#[tokio::test]
async fn a_panic_in_a_call_is_the_error_of_that_call() {
    for revision in ERAS {
        let test = TestServer::new();
        let peer = connect(&test, revision).await;
        let failed = "the server answered: Internal error: the call panicked (code -32603)";
        let (one, other, third) =
            tokio::join!(call(&peer, "panic"), call(&peer, "panic later"), call(&peer, "echo"));
        assert_eq!((one.as_str(), other.as_str(), third.as_str()), (failed, failed, "{}"));
        let options = RequestOptions::within(Duration::from_secs(20));
        let error = peer.request("panic/at-once", None, &options).await.unwrap_err();
        assert_eq!(error.to_string(), failed);
        assert_eq!(call(&peer, "echo").await, "{}");
        peer.close().await;
    }
}

#[tokio::test]
async fn any_other_panic_costs_one_session() {
    let test = TestServer::new();
    let (bad, good) =
        (connect(&test, Revision::LATEST_LEGACY).await, connect(&test, Revision::LATEST).await);
    bad.notify("notifications/panic", None).await.unwrap();
    assert!(matches!(bad.ended().await.reason, EndReason::PipeTaskPanicked));
    assert_eq!(call(&good, "echo").await, "{}");
    bad.close().await;
    good.close().await;
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_a_call_that_does_not_end_and_then_drops_it() {
    let mut test = TestServer::new();
    let options = options(Revision::LATEST);
    let server = Arc::new(test.server.clone());
    let peer = connect_pipe(server, &options, Arc::new(NoHandler)).await.unwrap();
    let began = tokio::time::Instant::now();
    let (error, ()) = tokio::join!(
        async { peer.call_tool("stubborn", None, &RequestOptions::default()).await.unwrap_err() },
        async {
            test.wait_for("stubborn started").await;
            peer.close().await;
        }
    );
    assert!(matches!(error, RequestError::Lost { never_sent: false, .. }), "{error:?}");
    assert_eq!(began.elapsed().as_secs(), 2);
    assert!(options.tasks.is_empty());
}

#[tokio::test]
async fn a_server_that_was_closed_accepts_no_connection() {
    let test = TestServer::new();
    test.server.close(Duration::ZERO).await;
    let options = ConnectOptions { tasks: TaskTracker::new(), ..options(Revision::LATEST) };
    let server = Arc::new(test.server.clone());
    let error = connect_pipe(server, &options, Arc::new(NoHandler)).await.err().unwrap();
    assert_eq!(error.to_string(), "the server closed its output");
    assert!(options.tasks.is_empty());
}
