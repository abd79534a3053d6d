//! How sessions over pipes end, and what is known about their calls then.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use super::scripted_pipe::{CAPACITY, ScriptedOpener, ServerSide, call, options};
use crate::Json;
use crate::peer::{EndReason, RequestError, RequestOptions};
use crate::session::SessionLimits;
use crate::view::send::Object;
use crate::{ConnectOptions, Peer};

/// Calls a server whose script goes on with the call, and returns how the call and the session end.
async fn call_and_end<F>(
    limit: usize,
    script: impl Fn(ServerSide) -> F + Send + Sync + 'static,
) -> (RequestError, EndReason)
where
    F: Future<Output = ()> + Send + 'static,
{
    let script = Arc::new(script);
    let opener = ScriptedOpener::new(move |mut side| {
        let script = Arc::clone(&script);
        async move {
            side.greet().await;
            assert_eq!(side.next().await.unwrap()["method"], "tools/call");
            script(side).await;
        }
    });
    let limits = SessionLimits { message: limit, ..SessionLimits::default() };
    let peer = opener.connect_with(&ConnectOptions { limits, ..options() }).await.unwrap();
    let error = call(&peer).await.unwrap_err();
    let reason = peer.ended().await.reason.clone();
    peer.close().await;
    (error, reason)
}

#[tokio::test]
async fn a_server_that_ends_during_a_call_leaves_the_outcome_unknown() {
    let (error, reason) = call_and_end(1 << 20, |_| async {}).await;
    assert!(matches!(error, RequestError::Lost { never_sent: false, .. }), "{error:?}");
    assert!(matches!(reason, EndReason::OutputClosed), "{reason:?}");
}

#[tokio::test]
async fn a_task_that_panics_ends_its_session_and_no_other() {
    let opener = ScriptedOpener::new(|mut side| async move {
        side.greet().await;
        if side.number == 1 {
            side.next().await;
            panic!("on purpose");
        }
        side.answer_calls().await;
    });
    let (bad, good) = (opener.connect().await, opener.connect().await);
    let error = call(&bad).await.unwrap_err();
    assert_eq!(error.to_string(), "the task that came with the server's pipe panicked");
    assert!(!error.never_sent());
    call(&good).await.unwrap();
    bad.close().await;
    good.close().await;
}

#[tokio::test]
async fn a_flood_of_text_that_is_not_mcp_ends_the_session() {
    let (error, reason) = call_and_end(1 << 20, |mut side| async move {
        while side.write(&"junk\n".repeat(1000)).await.is_ok() {}
    })
    .await;
    assert!(matches!(error, RequestError::Lost { never_sent: false, .. }), "{error:?}");
    assert!(matches!(reason, EndReason::NotMcp), "{reason:?}");
}

#[tokio::test]
async fn a_line_without_an_end_fails_the_call_and_ends_the_session() {
    let (error, reason) = call_and_end(1 << 10, |mut side| async move {
        while side.write(&"x".repeat(1000)).await.is_ok() {}
    })
    .await;
    assert!(matches!(error, RequestError::TooLarge { limit: 1024 }), "{error:?}");
    assert!(matches!(reason, EndReason::EndlessMessage), "{reason:?}");
}

async fn call_with(peer: &Peer, text: &str) -> RequestError {
    let arguments = Json::encode(&json!({ "text": text })).unwrap();
    let arguments = Object::try_from(arguments).unwrap();
    peer.call_tool("load", Some(&arguments), &RequestOptions::default()).await.unwrap_err()
}

#[tokio::test]
async fn a_call_of_which_nothing_was_written_was_never_sent() {
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let opener = ScriptedOpener::new(move |mut side| {
        let stopped = Arc::clone(&stopped);
        async move {
            side.greet().await;
            stopped.notified().await;
        }
    });
    let peer = opener.connect().await;
    let full = "x".repeat(16 * CAPACITY);
    let ending = async {
        // The driver fills the pipe in the meantime.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        stop.notify_one();
    };
    let (long, short, ()) = tokio::join!(call_with(&peer, &full), call_with(&peer, "x"), ending);
    assert!(matches!(long, RequestError::Lost { never_sent: false, .. }), "{long:?}");
    assert!(matches!(short, RequestError::Lost { never_sent: true, .. }), "{short:?}");
    let later = call_with(&peer, "x").await;
    assert!(matches!(later, RequestError::Lost { never_sent: true, .. }), "{later:?}");
    peer.close().await;
}

#[tokio::test]
async fn messages_that_were_written_before_the_end_still_count() {
    let opener = ScriptedOpener::new(|mut side| async move {
        side.greet().await;
        let request = side.next().await.unwrap();
        side.answer(&request, &json!({"content": [], "resultType": "complete"})).await;
    });
    let peer = opener.connect().await;
    call(&peer).await.unwrap();
    assert!(matches!(peer.ended().await.reason, EndReason::OutputClosed));
    peer.close().await;
}
