//! Legacy sessions over HTTP that a server loses.

use std::sync::{Arc, Mutex};

use axum::response::Response;
use serde_json::{Value, json};

use super::scripted_server::{ReceivedRequest, ScriptedServer, call, status, stream};
use crate::era::Era;
use crate::session::RequestError;

/// Starts sessions with the ids `s1`, `s2` and so on.
fn initialize_response(asked: &ReceivedRequest) -> Option<Response> {
    match asked.name().as_str() {
        "server/discover" => Some(asked.refuse(400, None, -32601)),
        "initialize" => {
            let mut answer = asked.answer(&json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stage", "version": "1"},
            }));
            let session = format!("s{}", asked.times).parse().unwrap();
            answer.headers_mut().insert("mcp-session-id", session);
            Some(answer)
        }
        _ => None,
    }
}

/// Calls a tool of a server that refuses the first call; returns the error and the numbers of
/// `initialize` and `tools/call` requests.
async fn call_after_refusal(
    no: impl Fn(&ReceivedRequest) -> Response + Send + Sync + 'static,
) -> (Option<RequestError>, [usize; 2]) {
    let server = ScriptedServer::open(move |asked| {
        let is_first_call = asked.name() == "tools/call" && asked.times == 1;
        if is_first_call { Some(no(asked)) } else { initialize_response(asked) }
    })
    .await;
    let peer = server.connect().await;
    let error = call(&peer).await.err();
    peer.close().await;
    (error, ["initialize", "tools/call"].map(|name| server.count(name)))
}

#[tokio::test]
async fn an_error_with_the_id_of_the_call_is_its_answer() {
    for status in [404, 400] {
        let (error, counts) = call_after_refusal(move |it| it.refuse(status, None, -32000)).await;
        assert!(matches!(error, Some(RequestError::ErrorResponse(_))), "{status}: {error:?}");
        assert_eq!(counts, [1, 1], "{status}");
    }
}

#[tokio::test]
async fn an_error_response_that_is_too_long_to_read_may_be_the_answer() {
    let (error, counts) = call_after_refusal(|_| {
        let body = axum::body::Body::from("x".repeat(1 << 20));
        Response::builder().status(404).body(body).unwrap()
    })
    .await;
    assert!(matches!(error, Some(RequestError::Status { .. })), "{error:?}");
    assert_eq!(counts, [1, 1]);
}

#[tokio::test]
async fn an_error_about_the_session_starts_a_new_one() {
    for id in [Value::Null, json!("server-error")] {
        let no = move |it: &ReceivedRequest| it.refuse(404, Some(id.clone()), -32000);
        let (error, counts) = call_after_refusal(no).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(counts, [2, 2]);
    }
    let (error, counts) = call_after_refusal(|_| status(404)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(counts, [2, 2]);
}

#[tokio::test]
async fn a_400_that_mentions_the_session_starts_a_new_one_but_does_not_repeat_the_call() {
    for id in [Value::Null, json!("server-error")] {
        let no = move |it: &ReceivedRequest| it.refuse(400, Some(id.clone()), -32000);
        let (error, counts) = call_after_refusal(no).await;
        let Some(RequestError::Inconclusive { status: Some(status), .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!((status.as_u16(), counts), (400, [2, 1]));
    }
}

#[tokio::test]
async fn every_other_refusal_of_a_call_leaves_its_outcome_unknown_and_names_the_status() {
    for number in [400, 408, 409, 429, 500, 502, 503, 504, 307, 308] {
        let (error, counts) = call_after_refusal(move |_| {
            let mut response = status(number);
            response.headers_mut().insert("location", "/elsewhere".parse().unwrap());
            response
        })
        .await;
        let error = error.expect("it is refused");
        assert_eq!(error.status().map(|it| it.as_u16()), Some(number), "{error:?}");
        assert!(!error.was_not_executed(Era::Legacy), "{error:?}");
        assert_eq!(counts, [1, 1], "{number}");
    }
    // An error of a proxy is inconclusive, even as a JSON-RPC error.
    for number in [408, 429, 500, 503] {
        let (error, counts) = call_after_refusal(move |it| it.refuse(number, None, -32603)).await;
        assert!(matches!(error, Some(RequestError::Inconclusive { .. })), "{number}: {error:?}");
        assert_eq!(counts, [1, 1], "{number}");
    }
}

#[tokio::test]
async fn codes_of_the_modern_era_do_not_repeat_a_legacy_call() {
    for code in [-32020, -32022] {
        let (error, counts) = call_after_refusal(move |it| it.refuse(400, None, code)).await;
        let error = error.expect("it is refused");
        assert!(
            error.error_response().is_some() && !error.was_not_executed(Era::Legacy),
            "{error:?}"
        );
        assert_eq!(counts, [1, 1], "{code}");
    }
}

/// A server with a GET stream that loses the first session at the second call.
async fn server_that_forgets_its_session()
-> (ScriptedServer, Arc<Mutex<Vec<tokio::sync::mpsc::UnboundedSender<String>>>>) {
    let streams = Arc::new(Mutex::new(Vec::new()));
    let opened = Arc::clone(&streams);
    let is_forgotten = Arc::new(Mutex::new(false));
    let server = ScriptedServer::open(move |asked| {
        let mut is_forgotten = is_forgotten.lock().unwrap();
        let is_first = asked.session.as_deref() == Some("s1");
        *is_forgotten |= is_first && asked.name() == "tools/call" && asked.times == 2;
        if asked.name() == "GET s1" && asked.times == 2 {
            *is_forgotten = true;
        }
        if is_first && *is_forgotten {
            return Some(status(404));
        }
        if asked.verb == http::Method::GET {
            let (sender, response) = stream();
            sender.send("retry: 100\ndata:\n\n".to_owned()).unwrap();
            opened.lock().unwrap().push(sender);
            return Some(response);
        }
        initialize_response(asked)
    })
    .await;
    (server, streams)
}

#[tokio::test]
async fn a_stream_that_ended_with_its_session_is_opened_in_the_next_session() {
    let (server, streams) = server_that_forgets_its_session().await;
    let peer = server.connect().await;
    call(&peer).await.unwrap();
    server.until("GET s1", 1).await;
    streams.lock().unwrap().clear();
    // The stream has ended before a new session starts.
    server.until("GET s1", 2).await;
    call(&peer).await.unwrap();
    server.until("GET s2", 1).await;
    peer.close().await;
}

#[tokio::test]
async fn a_stream_that_survives_its_session_is_replaced() {
    let (server, streams) = server_that_forgets_its_session().await;
    let peer = server.connect().await;
    call(&peer).await.unwrap();
    server.until("GET s1", 1).await;
    call(&peer).await.unwrap();
    server.until("GET s2", 1).await;
    assert!(streams.lock().unwrap().iter().any(|stream| !stream.is_closed()));
    peer.close().await;
    assert_eq!([server.count("GET s1"), server.count("GET s2")], [1, 1]);
}
