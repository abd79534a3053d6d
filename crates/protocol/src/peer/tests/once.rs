//! What went wrong after a call had begun never looks as if it had not.

use axum::response::Response;
use http::StatusCode;
use serde_json::json;

use super::stage::{Asked, Stage, call, reply, status};
use crate::envelope::code;
use crate::era::Era;
use crate::session::RequestError;

/// Calls a tool of a server whose answer is not final; returns the error and what was asked.
async fn failed(
    script: impl Fn(&Asked) -> Option<Response> + Send + Sync + 'static,
) -> (RequestError, String) {
    let stage = Stage::open(script).await;
    let peer = stage.connect().await;
    let error = call(&peer).await.unwrap_err();
    peer.close().await;
    let asked = ["tools/call", "tools/list", "tasks/get"].map(|name| stage.count(name));
    (error, format!("{} calls, {} lists, {} looks", asked[0], asked[1], asked[2]))
}

fn input_required(asked: &Asked) -> Response {
    asked.answer(&json!({"resultType": "input_required", "requestState": "s"}))
}

#[tokio::test]
async fn who_is_turned_away_in_the_second_round_has_begun() {
    let (error, asked) = failed(|asked| match (asked.name().as_str(), asked.times) {
        ("tools/call", 1) => Some(input_required(asked)),
        ("tools/call", _) => Some(status(401)),
        _ => None,
    })
    .await;
    assert!(!error.was_turned_away(Era::Modern) && !error.never_sent(), "{error:?}");
    assert_eq!(error.to_string(), "the server answered 401 Unauthorized");
    assert_eq!(asked, "2 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn wrong_headers_in_the_second_round_do_not_begin_the_call_anew() {
    let (error, asked) = failed(|asked| match (asked.name().as_str(), asked.times) {
        ("tools/call", 1) => Some(input_required(asked)),
        ("tools/call", _) => Some(asked.refuse(400, None, code::HEADER_MISMATCH)),
        _ => None,
    })
    .await;
    assert!(!error.was_turned_away(Era::Modern) && error.refusal().is_none(), "{error:?}");
    assert_eq!(asked, "2 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn wrong_headers_in_the_first_round_are_corrected_once() {
    let (error, asked) = failed(|asked| {
        let is_call = asked.name() == "tools/call";
        is_call.then(|| asked.refuse(400, None, code::HEADER_MISMATCH))
    })
    .await;
    assert!(error.was_turned_away(Era::Modern) && error.refusal().is_some(), "{error:?}");
    assert_eq!(asked, "2 calls, 1 lists, 0 looks");
}

#[tokio::test]
async fn who_is_turned_away_while_waiting_for_a_task_has_begun() {
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
    assert!(!error.was_turned_away(Era::Modern) && !error.never_sent(), "{error:?}");
    assert_eq!(asked, "1 calls, 0 lists, 1 looks");
}

#[tokio::test]
async fn who_is_turned_away_at_once_has_not_begun() {
    let (error, asked) = failed(|asked| (asked.name() == "tools/call").then(|| status(401))).await;
    assert!(error.was_turned_away(Era::Modern), "{error:?}");
    assert_eq!(asked, "1 calls, 0 lists, 0 looks");
}

#[tokio::test]
async fn a_refusal_for_headers_stays_the_reason_when_the_tools_cannot_be_listed() {
    let (error, asked) = failed(|asked| match asked.name().as_str() {
        "tools/call" => Some(asked.refuse(400, None, code::HEADER_MISMATCH)),
        "tools/list" => Some(status(503)),
        _ => None,
    })
    .await;
    assert!(error.was_turned_away(Era::Modern) && error.refusal().is_some(), "{error:?}");
    assert_eq!(asked, "1 calls, 1 lists, 0 looks");
}

#[tokio::test]
async fn a_result_with_the_id_of_another_request_is_no_answer() {
    for id in [json!(987_654_321), json!("other")] {
        let (error, asked) = failed(move |asked| {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
            (asked.name() == "tools/call").then(|| reply(StatusCode::OK, &answer))
        })
        .await;
        assert!(!error.was_turned_away(Era::Modern) && !error.never_sent(), "{error:?}");
        assert_eq!(error.to_string(), "the answer makes no sense: a result with another id");
        assert_eq!(asked, "1 calls, 0 lists, 0 looks");
    }
}

#[tokio::test]
async fn a_result_without_an_id_is_the_answer_to_the_request_it_came_for() {
    let stage = Stage::open(|asked| {
        let answer = json!({"jsonrpc": "2.0", "id": null, "result": {"content": []}});
        (asked.name() == "tools/call").then(|| reply(StatusCode::OK, &answer))
    })
    .await;
    let peer = stage.connect().await;
    assert!(call(&peer).await.is_ok());
    peer.close().await;
}
