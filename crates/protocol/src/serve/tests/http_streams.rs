//! Event streams that break, are idle or are opened twice; session timeouts and eviction.

use std::time::Duration;

use http::Method;

use super::http_client::{HttpTestClient, legacy_server};
use super::sample::{TestServer, legacy, modern, tool};
use crate::serve::HttpServerOptions;

/// Makes a call that sends a request to the client, and disconnects after that request.
async fn call_and_disconnect(test: &mut TestServer, web: &HttpTestClient) -> String {
    let mut reply = web.post(&legacy(1, "tools/call", &tool("elicit")), &[]).await;
    let (id, _) = reply.event().await.unwrap();
    drop(reply);
    assert_eq!(test.seen.try_recv().unwrap(), "notifications/initialized");
    id
}

#[tokio::test]
async fn a_broken_stream_is_resumed_after_the_last_event() {
    let (mut test, web) = legacy_server("2025-11-25").await;
    let id = call_and_disconnect(&mut test, &web).await;
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
async fn an_unknown_event_id_cannot_be_resumed() {
    let (_test, web) = legacy_server("2025-11-25").await;
    for event in ["9-1", "x", "1-x", "-"] {
        let reply = web.send(Method::GET, "", &[("last-event-id", event)]).await;
        assert_eq!(reply.status(), 400, "{event}");
    }
}

#[tokio::test]
async fn change_notifications_are_on_the_session_stream_even_if_it_is_opened_late() {
    let (_test, web) = legacy_server("2025-11-25").await;
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

fn direct(change: impl FnOnce(&mut HttpServerOptions)) -> (TestServer, HttpTestClient) {
    let test = TestServer::new();
    let mut options = HttpServerOptions::default();
    change(&mut options);
    let web = HttpTestClient::direct(&test.server, options);
    (test, web)
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_gets_a_comment_every_fifteen_seconds() {
    let (_test, web) = direct(|_| {});
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
async fn a_long_call_becomes_a_stream_with_keep_alive_comments() {
    let (test, web) = direct(|_| {});
    let body = modern(1, "tools/call", r#""name":"gate""#, "{}");
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "gate"),
    ];
    let mut reply = web.post(&body, &headers).await;
    assert!(reply.is_stream());
    assert_eq!(reply.block().await.unwrap(), ": keep-alive");
    test.gate.notify_one();
    assert!(reply.event().await.unwrap().1.contains("gate passed"));
}

#[tokio::test(start_paused = true)]
async fn an_unused_session_ends_and_a_used_one_does_not() {
    let (mut test, web) = direct(|options| options.session_idle_timeout = Duration::from_secs(60));
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
    test.wait_for("session ended").await;
}

#[tokio::test(start_paused = true)]
async fn a_new_session_evicts_the_session_that_was_idle_the_longest() {
    let test = TestServer::new();
    let options = HttpServerOptions { max_sessions: 2, ..HttpServerOptions::default() };
    let router = test.server.router(options);
    let mut webs = Vec::new();
    for _ in 0..3 {
        webs.push(HttpTestClient::routed(router.clone()).session("2025-11-25").await);
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let mut statuses = Vec::new();
    for web in &webs {
        statuses.push(web.post(&legacy(1, "ping", "{}"), &[]).await.status());
    }
    assert_eq!(statuses, [404, 200, 200]);

    let busy = [webs[1].send(Method::GET, "", &[]).await, webs[2].send(Method::GET, "", &[]).await];
    let fourth = HttpTestClient::routed(router);
    let reply =
        fourth.post(&legacy(0, "initialize", &super::sample::initialize_params("x")), &[]).await;
    assert_eq!(reply.status(), 503);
    drop(busy);
}

#[tokio::test]
async fn closing_ends_streams_and_lets_calls_finish() {
    let (mut test, web) = legacy_server("2025-11-25").await;
    let stream = web.send(Method::GET, "", &[]).await;
    let body = legacy(1, "tools/call", &tool("gate"));
    let call = async { web.post(&body, &[]).await.text().await };
    let server = test.server.clone();
    let closing = async {
        test.wait_for("gate reached").await;
        let close = server.close(Duration::from_secs(10));
        let ending = async {
            stream.text().await;
            test.gate.notify_one();
        };
        tokio::join!(close, ending);
    };
    let (answer, ()) = tokio::join!(call, closing);
    assert!(answer.contains("gate passed"), "{answer}");
}
