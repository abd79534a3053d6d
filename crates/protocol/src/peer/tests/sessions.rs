//! Legacy sessions over HTTP that a server forgets.

use axum::response::Response;
use serde_json::{Value, json};

use super::super::RequestError;
use super::stage::{Asked, Stage, call, status};

/// Begins sessions, called `s1`, `s2` and so on.
fn hello(asked: &Asked) -> Option<Response> {
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

/// Calls a tool of a server that says no the first time; returns how often it began and was called.
async fn begun_and_called(
    no: impl Fn(&Asked) -> Response + Send + Sync + 'static,
) -> (Option<RequestError>, [usize; 2]) {
    let stage = Stage::open(move |asked| {
        let is_first_call = asked.name() == "tools/call" && asked.times == 1;
        if is_first_call { Some(no(asked)) } else { hello(asked) }
    })
    .await;
    let peer = stage.connect().await;
    let error = call(&peer).await.err();
    peer.close().await;
    (error, ["initialize", "tools/call"].map(|name| stage.count(name)))
}

#[tokio::test]
async fn an_error_with_the_id_of_the_call_is_its_answer() {
    for status in [404, 400] {
        let (error, counts) = begun_and_called(move |it| it.refuse(status, None, -32000)).await;
        assert!(matches!(error, Some(RequestError::Refused(_))), "{status}: {error:?}");
        assert_eq!(counts, [1, 1], "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_to_be_looked_at_may_be_one() {
    let (error, counts) = begun_and_called(|_| {
        let body = axum::body::Body::from("x".repeat(1 << 20));
        Response::builder().status(404).body(body).unwrap()
    })
    .await;
    assert!(matches!(error, Some(RequestError::Status { .. })), "{error:?}");
    assert_eq!(counts, [1, 1]);
}

#[tokio::test]
async fn an_error_about_the_session_begins_another() {
    for status in [404, 400] {
        for id in [Value::Null, json!("server-error")] {
            let no = move |it: &Asked| it.refuse(status, Some(id.clone()), -32000);
            let (error, counts) = begun_and_called(no).await;
            assert!(error.is_none(), "{status}: {error:?}");
            assert_eq!(counts, [2, 2], "{status}");
        }
    }
    let (error, counts) = begun_and_called(|_| status(404)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(counts, [2, 2]);
}
