//! Streams that break, stay silent, or are opened twice; and sessions that nobody uses.

use std::time::Duration;

use http::Method;

use super::sample::{Stage, legacy, modern, tool};
use super::web::{Web, legacy_stage};
use crate::serve::HttpOptions;

/// Makes a call that becomes a stream by asking, and breaks the connection off after the question.
async fn broken_off(stage: &mut Stage, web: &Web) -> String {
    let mut reply = web.post(&legacy(1, "tools/call", &tool("elicit")), &[]).await;
    let (id, _) = reply.event().await.unwrap();
    drop(reply);
    assert_eq!(stage.seen.try_recv().unwrap(), "notifications/initialized");
    id
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_where_it_broke() {
    let (mut stage, web) = legacy_stage("2025-11-25").await;
    let id = broken_off(&mut stage, &web).await;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#;
    assert_eq!(web.post(answer, &[]).await.status(), 202);

    let mut resumed = web.send(Method::GET, "", &[("last-event-id", &id)]).await;
    let (next, data) = resumed.event().await.unwrap();
    assert_eq!((id.as_str(), next.as_str()), ("1-1", "1-2"));
    assert!(data.contains("accept"), "{data}");
    assert!(resumed.event().await.is_none());

    let mut from_start = web.send(Method::GET, "", &[("last-event-id", "1-0")]).await;
    assert!(from_start.event().await.unwrap().1.contains("elicitation/create"));
    assert!(from_start.event().await.unwrap().1.contains("accept"));
}

#[tokio::test]
async fn an_event_that_nobody_knows_cannot_be_resumed() {
    let (_stage, web) = legacy_stage("2025-11-25").await;
    for event in ["9-1", "x", "1-x", "-"] {
        let reply = web.send(Method::GET, "", &[("last-event-id", event)]).await;
        assert_eq!(reply.status(), 400, "{event}");
    }
}

#[tokio::test]
async fn changes_come_on_the_stream_of_the_session_even_if_it_is_opened_late() {
    let (_stage, web) = legacy_stage("2025-11-25").await;
    let reply = web.post(&legacy(1, "tools/call", &tool("change")), &[]).await;
    assert_eq!(reply.header("content-type"), "application/json");
    let mut stream = web.send(Method::GET, "", &[("accept", "text/event-stream")]).await;
    assert!(stream.is_stream());
    let (id, data) = stream.event().await.unwrap();
    assert_eq!(
        (id.as_str(), data.as_str()),
        ("0-1", r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
    );

    let mut second = web.send(Method::GET, "", &[("last-event-id", "0-0")]).await;
    assert_eq!(second.event().await.unwrap().0, "0-1");
    assert!(stream.event().await.is_none());
}

fn direct(change: impl FnOnce(&mut HttpOptions)) -> (Stage, Web) {
    let stage = Stage::new();
    let mut options = HttpOptions::default();
    change(&mut options);
    let web = Web::direct(&stage.server, options);
    (stage, web)
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gets_a_comment_every_fifteen_seconds() {
    let (_stage, web) = direct(|_| {});
    let web = web.session("2025-11-25").await;
    let mut stream = web.send(Method::GET, "", &[]).await;
    assert_eq!(stream.block().await.unwrap(), "id: 0-0\nretry: 1000");
    let start = tokio::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(stream.block().await.unwrap(), ": keep-alive");
    }
    assert_eq!(start.elapsed().as_secs(), 45);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_becomes_a_stream_so_that_it_can_show_life() {
    let (stage, web) = direct(|_| {});
    let body = modern(1, "tools/call", r#""name":"gate""#, "{}");
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "gate"),
    ];
    let mut reply = web.post(&body, &headers).await;
    assert!(reply.is_stream());
    assert_eq!(reply.block().await.unwrap(), ": keep-alive");
    stage.gate.notify_one();
    assert!(reply.event().await.unwrap().1.contains("gate passed"));
}

#[tokio::test(start_paused = true)]
async fn an_unused_session_ends_and_a_used_one_does_not() {
    let (mut stage, web) = direct(|options| options.session_idle = Duration::from_secs(60));
    let web = web.session("2025-11-25").await;
    for id in 0..5 {
        tokio::time::sleep(Duration::from_secs(50)).await;
        assert_eq!(web.post(&legacy(id, "ping", "{}"), &[]).await.status(), 200);
    }
    let stream = web.send(Method::GET, "", &[]).await;
    tokio::time::sleep(Duration::from_secs(500)).await;
    assert_eq!(web.post(&legacy(9, "ping", "{}"), &[]).await.status(), 200);
    drop(stream);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(web.post(&legacy(10, "ping", "{}"), &[]).await.status(), 404);
    stage.until("session ended").await;
}

#[tokio::test(start_paused = true)]
async fn too_many_sessions_push_out_the_one_that_was_idle_the_longest() {
    let stage = Stage::new();
    let options = HttpOptions { most_sessions: 2, ..HttpOptions::default() };
    let router = stage.server.router(options);
    let mut webs = Vec::new();
    for _ in 0..3 {
        webs.push(Web::routed(router.clone()).session("2025-11-25").await);
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let mut statuses = Vec::new();
    for web in &webs {
        statuses.push(web.post(&legacy(1, "ping", "{}"), &[]).await.status());
    }
    assert_eq!(statuses, [404, 200, 200]);

    let busy = [webs[1].send(Method::GET, "", &[]).await, webs[2].send(Method::GET, "", &[]).await];
    let fourth = Web::routed(router);
    let reply = fourth.post(&legacy(0, "initialize", &super::sample::hello("x")), &[]).await;
    assert_eq!(reply.status(), 503);
    drop(busy);
}

#[tokio::test]
async fn closing_ends_streams_and_lets_calls_finish() {
    let (mut stage, web) = legacy_stage("2025-11-25").await;
    let stream = web.send(Method::GET, "", &[]).await;
    let body = legacy(1, "tools/call", &tool("gate"));
    let calling = async { web.post(&body, &[]).await.text().await };
    let server = stage.server.clone();
    let closing = async {
        stage.until("gate reached").await;
        let close = server.close(Duration::from_secs(10));
        let ending = async {
            stream.text().await;
            stage.gate.notify_one();
        };
        tokio::join!(close, ending);
    };
    let (answer, ()) = tokio::join!(calling, closing);
    assert!(answer.contains("gate passed"), "{answer}");
}
