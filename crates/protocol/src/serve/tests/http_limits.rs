//! Requests that are refused by access control or limits.

use std::time::Duration;

use http::Method;

use super::http_client::HttpTestClient;
use super::sample::{TestServer, initialize_params, legacy, tool};
use crate::serve::{BearerToken, HttpServerOptions};

async fn serve(change: impl FnOnce(&mut HttpServerOptions)) -> (TestServer, HttpTestClient) {
    let test = TestServer::new();
    let mut options = HttpServerOptions::default();
    change(&mut options);
    let web = HttpTestClient::serve(&test.server, options).await;
    (test, web)
}

async fn check(web: &HttpTestClient, headers: &[(&str, &str)], expected: u16) {
    let reply = web.post(&legacy(1, "initialize", &initialize_params("2025-11-25")), headers).await;
    assert_eq!(reply.status(), expected, "{headers:?}");
}

#[tokio::test]
async fn untrusted_hosts_and_origins_are_refused() {
    let (_test, web) = serve(|_| {}).await;
    check(&web, &[("host", "localhost")], 200).await;
    check(&web, &[("host", "evil.example.com")], 403).await;
    check(&web, &[("origin", "http://evil.example.com")], 403).await;
    check(&web, &[("origin", "null")], 403).await;
    check(&web, &[("origin", "http://localhost:6274")], 200).await;
}

#[tokio::test]
async fn a_configured_token_is_required() {
    let (_test, web) = serve(|options| options.token = Some(BearerToken::new("secret"))).await;
    check(&web, &[("authorization", "Bearer secret")], 200).await;
    check(&web, &[("authorization", "bearer  secret")], 200).await;
    for wrong in ["Bearer secreT", "Bearer", "Basic secret", "secret"] {
        check(&web, &[("authorization", wrong)], 401).await;
    }
    let reply = web.send(Method::GET, "", &[]).await;
    assert_eq!((reply.status(), reply.header("www-authenticate")), (401, "Bearer"));
    let reply = web.send(Method::GET, "", &[("authorization", "Bearer x")]).await;
    assert_eq!(reply.header("www-authenticate"), r#"Bearer error="invalid_token""#);
    assert!(!reply.text().await.contains("secret"));
}

#[tokio::test]
async fn unsupported_content_types_are_refused() {
    let (_test, web) = serve(|_| {}).await;
    check(&web, &[("content-type", "application/json; charset=utf-8")], 200).await;
    check(&web, &[("content-type", "text/plain")], 415).await;
    check(&web, &[("content-type", "")], 415).await;
    check(&web, &[("accept", "")], 200).await;
    check(&web, &[("accept", "*/*")], 200).await;
    check(&web, &[("accept", "application/*, text/event-stream;q=0.5")], 200).await;
    check(&web, &[("accept", "application/json")], 406).await;
    check(&web, &[("accept", "text/html")], 406).await;
    let reply = web.send(Method::GET, "", &[("accept", "text/html")]).await;
    assert_eq!(reply.status(), 406);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let (_test, web) = serve(|options| options.body_limit = 200).await;
    assert_eq!(web.post(&"x".repeat(200), &[]).await.status(), 400);
    assert_eq!(
        web.post(&"x".repeat(201), &[]).await.status_and_text().await,
        r#"413 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Message too long"}}"#
    );
}

#[tokio::test]
async fn a_body_that_is_not_a_message_is_an_error() {
    let (_test, web) = serve(|_| {}).await;
    assert_eq!(
        web.post("{", &[]).await.status_and_text().await,
        r#"400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#
    );
    assert_eq!(
        web.post("{}", &[]).await.status_and_text().await,
        r#"400 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#
    );
}

#[tokio::test]
async fn other_http_methods_get_an_allow_header() {
    let (_test, web) = serve(|_| {}).await;
    let reply = web.send(Method::PUT, "", &[]).await;
    assert_eq!((reply.status(), reply.header("allow")), (405, "GET, POST, DELETE"));
}

#[tokio::test]
async fn more_calls_at_once_than_allowed_are_refused() {
    let (mut test, web) = serve(|options| options.max_calls = 1).await;
    let web = web.session("2025-11-25").await;
    let body = legacy(1, "tools/call", &tool("gate"));
    let slow = web.post(&body, &[]);
    let others = async {
        test.wait_for("gate reached").await;
        assert_eq!(web.post(&legacy(2, "ping", "{}"), &[]).await.status(), 503);
        test.gate.notify_one();
    };
    let (reply, ()) = tokio::join!(slow, others);
    assert_eq!(reply.status(), 200);
    let retries = tokio::time::timeout(Duration::from_secs(10), async {
        while web.post(&legacy(3, "ping", "{}"), &[]).await.status() != 200 {}
    });
    retries.await.unwrap();
}
