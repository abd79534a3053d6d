//! Errors after a call has started are never reported as "not executed", and the call is not
//! repeated.

use axum::response::Response;
use http::StatusCode;
use serde_json::json;

use super::scripted_server::{ReceivedRequest, ScriptedServer, call, reply, status};
use crate::envelope::code;
use crate::era::Era;
use crate::session::RequestError;

/// Calls a tool of a scripted server; returns the error and the numbers of requests.
async fn failed(
    script: impl Fn(&ReceivedRequest) -> Option<Response> + Send + Sync + 'static,
) -> (RequestError, String) {
    let server = ScriptedServer::open(script).await;
    let peer = server.connect().await;
    let error = call(&peer).await.unwrap_err();
    peer.close().await;
    let asked = ["tools/call", "tools/list", "tasks/get"].map(|name| server.count(name));
    (error, format!("{} calls, {} lists, {} looks", asked[0], asked[1], asked[2]))
}

fn input_required(asked: &ReceivedRequest) -> Response {
    asked.answer(&json!({"resultType": "input_required", "requestState": "s"}))
}

#[tokio::test]
async fn a_401_in_the_second_round_means_the_call_has_started() {
    let (error, asked) = failed(|asked| match (asked.name().as_str(), asked.times) {
        ("tools/call", 1) => Some(input_required(asked)),
        ("tools/call", _) => Some(status(401)),
        _ => None,
    })
    .await;
    assert!(!error.was_not_executed(Era::Modern) && !error.never_sent(), "{error:?}");
    assert_eq!(error.to_string(), "the server answered 401 Unauthorized");
    assert_eq!(asked, "2 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn a_header_mismatch_in_the_second_round_does_not_restart_the_call() {
    let (error, asked) = failed(|asked| match (asked.name().as_str(), asked.times) {
        ("tools/call", 1) => Some(input_required(asked)),
        ("tools/call", _) => Some(asked.refuse(400, None, code::HEADER_MISMATCH)),
        _ => None,
    })
    .await;
    assert!(!error.was_not_executed(Era::Modern) && error.error_response().is_none(), "{error:?}");
    assert_eq!(asked, "2 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn a_header_mismatch_in_the_first_round_is_corrected_once() {
    let (error, asked) = failed(|asked| {
        let is_call = asked.name() == "tools/call";
        is_call.then(|| asked.refuse(400, None, code::HEADER_MISMATCH))
    })
    .await;
    assert!(error.was_not_executed(Era::Modern) && error.error_response().is_some(), "{error:?}");
    assert_eq!(asked, "2 calls, 1 lists, 0 looks");
}

#[tokio::test]
async fn a_401_while_polling_a_task_means_the_call_has_started() {
    let (error, asked) = failed(|asked| match asked.name().as_str() {
        "tools/call" => Some(asked.answer(&json!({
            "resultType": "task",
            "taskId": "t",
            "status": "working",
            "pollIntervalMs": 10,
        }))),
        "tasks/get" => Some(status(401)),
        _ => None,
    })
    .await;
    assert!(!error.was_not_executed(Era::Modern) && !error.never_sent(), "{error:?}");
    assert_eq!(asked, "1 calls, 0 lists, 1 looks");
}

#[tokio::test]
async fn a_401_on_the_first_request_means_the_call_has_not_started() {
    let (error, asked) = failed(|asked| (asked.name() == "tools/call").then(|| status(401))).await;
    assert!(error.was_not_executed(Era::Modern), "{error:?}");
    assert_eq!(asked, "1 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn a_header_mismatch_stays_the_error_when_the_tools_cannot_be_listed() {
    let (error, asked) = failed(|asked| match asked.name().as_str() {
        "tools/call" => Some(asked.refuse(400, None, code::HEADER_MISMATCH)),
        "tools/list" => Some(status(503)),
        _ => None,
    })
    .await;
    assert!(error.was_not_executed(Era::Modern) && error.error_response().is_some(), "{error:?}");
    assert_eq!(asked, "1 calls, 1 lists, 0 looks");
}

#[tokio::test]
async fn a_result_with_another_id_is_not_accepted() {
    for id in [json!(987_654_321), json!("other")] {
        let (error, asked) = failed(move |asked| {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
            (asked.name() == "tools/call").then(|| reply(StatusCode::OK, &answer))
        })
        .await;
        assert!(!error.was_not_executed(Era::Modern) && !error.never_sent(), "{error:?}");
        assert_eq!(error.to_string(), "the response is invalid: the result has another id");
        assert_eq!(asked, "1 calls, 0 lists, 0 looks");
    }
}

#[tokio::test]
async fn a_result_without_an_id_answers_the_request_it_was_sent_for() {
    let server = ScriptedServer::open(|asked| {
        let answer = json!({"jsonrpc": "2.0", "id": null, "result": {"content": []}});
        (asked.name() == "tools/call").then(|| reply(StatusCode::OK, &answer))
    })
    .await;
    let peer = server.connect().await;
    assert!(call(&peer).await.is_ok());
    peer.close().await;
}
