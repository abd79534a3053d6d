//! The legacy era over HTTP: sessions, event streams, requests to the client.

use http::Method;

use super::http_client::{HttpTestClient, legacy_server};
use super::sample::{TestServer, initialize_params, legacy, tool};
use crate::serve::HttpServerOptions;

#[tokio::test]
async fn initialize_opens_a_session_that_delete_ends() {
    let (mut test, web) = legacy_server("2025-11-25").await;
    let session = web.headers[0].1.clone();
    assert_eq!(session.len(), 32);
    assert_eq!(
        web.post(&legacy(1, "ping", "{}"), &[]).await.status_and_text().await,
        r#"200 {"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    assert_eq!(web.send(Method::DELETE, "", &[]).await.status(), 204);
    test.wait_for("session ended").await;
    assert_eq!(
        web.post(&legacy(2, "ping", "{}"), &[]).await.status_and_text().await,
        r#"404 {"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Session not found"}}"#
    );
    assert_eq!(web.send(Method::DELETE, "", &[]).await.status(), 404);
    assert_eq!(web.send(Method::GET, "", &[]).await.status(), 404);
}

#[tokio::test]
async fn without_a_session_only_initialize_is_accepted() {
    let test = TestServer::new();
    let web = HttpTestClient::serve(&test.server, HttpServerOptions::default()).await;
    let missing = r#""error":{"code":-32000,"message":"Mcp-Session-Id header is required"}}"#;
    assert_eq!(
        web.post(&legacy(1, "tools/list", "{}"), &[]).await.status_and_text().await,
        format!(r#"400 {{"jsonrpc":"2.0","id":1,{missing}"#)
    );
    assert_eq!(web.send(Method::GET, "", &[]).await.status(), 400);
    assert_eq!(web.send(Method::DELETE, "", &[]).await.status(), 400);
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(web.post(note, &[]).await.status(), 400);
    let reply = web.post(&legacy(1, "initialize", "{}"), &[]).await;
    assert!(
        reply
            .status_and_text()
            .await
            .starts_with(r#"400 {"jsonrpc":"2.0","id":1,"error":{"code":-32602"#)
    );
    let reply = web.post(&legacy(1, "initialize", &initialize_params("2025-06-18")), &[]).await;
    assert!(reply.text().await.contains(r#""protocolVersion":"2025-06-18""#));
}

#[tokio::test]
async fn an_unknown_revision_in_the_header_is_refused() {
    let (_test, web) = legacy_server("2025-11-25").await;
    let reply = web.post(&legacy(1, "ping", "{}"), &[("mcp-protocol-version", "1.0")]).await;
    assert_eq!(reply.status(), 400);
    let reply = web.post(&legacy(1, "ping", "{}"), &[("mcp-protocol-version", "")]).await;
    assert_eq!(reply.status(), 200);
}

#[tokio::test]
async fn an_answer_alone_is_json_and_one_with_notifications_is_a_stream() {
    let (_test, web) = legacy_server("2025-11-25").await;
    let reply = web.post(&legacy(1, "tools/list", "{}"), &[]).await;
    assert_eq!(reply.header("content-type"), "application/json");

    let mut reply = web.post(&legacy(2, "tools/call", &tool("progress")), &[]).await;
    assert!(reply.is_stream());
    assert_eq!(reply.header("x-accel-buffering"), "no");
    assert_eq!(reply.block().await.unwrap(), "id: 2-0\nretry: 1000\ndata: ");
    let (id, data) = reply.event().await.unwrap();
    assert_eq!(id, "2-1");
    assert!(data.contains(r#""progressToken":7,"progress":1.0"#), "{data}");
    let (_, data) = reply.event().await.unwrap();
    assert!(data.contains("two"));
    let (id, data) = reply.event().await.unwrap();
    assert_eq!(id, "2-3");
    assert!(data.contains(r#""id":2,"result""#));
    assert!(reply.event().await.is_none());
}

#[tokio::test]
async fn an_older_client_gets_no_empty_event() {
    let (_test, web) = legacy_server("2025-06-18").await;
    let mut reply = web.post(&legacy(1, "tools/call", &tool("progress")), &[]).await;
    assert_eq!(reply.block().await.unwrap(), "id: 1-0\nretry: 1000");
}

#[tokio::test]
async fn a_server_request_is_on_the_stream_of_its_call_and_is_answered_by_post() {
    let (_test, web) = legacy_server("2025-11-25").await;
    let mut reply = web.post(&legacy(1, "tools/call", &tool("elicit")), &[]).await;
    let (_, question) = reply.event().await.unwrap();
    assert_eq!(
        question,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#
    );
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#;
    assert_eq!(web.post(answer, &[]).await.status(), 202);
    let (_, result) = reply.event().await.unwrap();
    assert!(result.contains("decline"), "{result}");
}

#[tokio::test]
async fn a_cancelled_call_ends_its_stream_without_an_answer() {
    let (mut test, web) = legacy_server("2025-11-25").await;
    let body = legacy(1, "tools/call", &tool("slow"));
    let call = web.post(&body, &[]);
    let cancelling = async {
        test.wait_for("slow started").await;
        let note =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(web.post(note, &[]).await.status(), 202);
        test.wait_for("slow cancelled").await;
    };
    let (reply, ()) = tokio::join!(call, cancelling);
    assert_eq!(reply.status_and_text().await, "202 ");
}

#[tokio::test]
async fn a_slow_call_does_not_delay_a_fast_one() {
    let (mut test, web) = legacy_server("2025-11-25").await;
    let body = legacy(1, "tools/call", &tool("gate"));
    let slow = web.post(&body, &[]);
    let fast = async {
        test.wait_for("gate reached").await;
        assert_eq!(web.post(&legacy(2, "ping", "{}"), &[]).await.status(), 200);
        test.gate.notify_one();
    };
    let (reply, ()) = tokio::join!(slow, fast);
    assert!(reply.text().await.contains("gate passed"));
}

#[tokio::test]
async fn a_batch_is_answered_as_one_where_the_revision_has_them() {
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","method":"notifications/x"}},{}]"#,
        legacy(1, "ping", "{}"),
        legacy(2, "tools/list", "{}")
    );
    let (_test, web) = legacy_server("2025-03-26").await;
    assert_eq!(
        web.post(&batch, &[]).await.status_and_text().await,
        r#"200 [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"tools": []}}]"#
    );
    let notes = r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    assert_eq!(web.post(notes, &[]).await.status(), 202);
    let with_news = format!("[{}]", legacy(3, "tools/call", &tool("progress")));
    assert!(web.post(&with_news, &[]).await.is_stream());

    let (_test, web) = legacy_server("2025-06-18").await;
    assert_eq!(web.post(&batch, &[]).await.status(), 400);
}
