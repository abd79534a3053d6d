//! What is refused before anybody reads it.

use std::time::Duration;

use http::Method;

use super::sample::{Stage, hello, legacy, tool};
use super::web::Web;
use crate::serve::{HttpOptions, Token};

async fn serve(change: impl FnOnce(&mut HttpOptions)) -> (Stage, Web) {
    let stage = Stage::new();
    let mut options = HttpOptions::default();
    change(&mut options);
    let web = Web::serve(&stage.server, options).await;
    (stage, web)
}

async fn check(web: &Web, headers: &[(&str, &str)], expected: u16) {
    let reply = web.post(&legacy(1, "initialize", &hello("2025-11-25")), headers).await;
    assert_eq!(reply.status(), expected, "{headers:?}");
}

#[tokio::test]
async fn pages_and_names_of_strangers_are_refused() {
    let (_stage, web) = serve(|_| {}).await;
    check(&web, &[("host", "localhost")], 200).await;
    check(&web, &[("host", "evil.example.com")], 403).await;
    check(&web, &[("origin", "http://evil.example.com")], 403).await;
    check(&web, &[("origin", "null")], 403).await;
    check(&web, &[("origin", "http://localhost:6274")], 200).await;
}

#[tokio::test]
async fn a_token_must_be_shown_if_there_is_one() {
    let (_stage, web) = serve(|options| options.token = Some(Token::new("secret"))).await;
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
async fn kinds_of_content_that_do_not_fit_are_refused() {
    let (_stage, web) = serve(|_| {}).await;
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
    let (_stage, web) = serve(|options| options.body_limit = 200).await;
    assert_eq!(web.post(&"x".repeat(200), &[]).await.status(), 400);
    assert_eq!(
        web.post(&"x".repeat(201), &[]).await.shown().await,
        r#"413 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Message too long"}}"#
    );
}

#[tokio::test]
async fn what_is_no_message_is_a_parse_error() {
    let (_stage, web) = serve(|_| {}).await;
    assert_eq!(
        web.post("{", &[]).await.shown().await,
        r#"400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#
    );
    assert_eq!(
        web.post("{}", &[]).await.shown().await,
        r#"400 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#
    );
}

#[tokio::test]
async fn other_methods_are_told_what_there_is() {
    let (_stage, web) = serve(|_| {}).await;
    let reply = web.send(Method::PUT, "", &[]).await;
    assert_eq!((reply.status(), reply.header("allow")), (405, "GET, POST, DELETE"));
}

#[tokio::test]
async fn more_calls_at_once_than_allowed_are_refused() {
    let (mut stage, web) = serve(|options| options.most_calls = 1).await;
    let web = web.session("2025-11-25").await;
    let body = legacy(1, "tools/call", &tool("gate"));
    let slow = web.post(&body, &[]);
    let others = async {
        stage.until("gate reached").await;
        assert_eq!(web.post(&legacy(2, "ping", "{}"), &[]).await.status(), 503);
        stage.gate.notify_one();
    };
    let (reply, ()) = tokio::join!(slow, others);
    assert_eq!(reply.status(), 200);
    let patience = tokio::time::timeout(Duration::from_secs(10), async {
        while web.post(&legacy(3, "ping", "{}"), &[]).await.status() != 200 {}
    });
    patience.await.unwrap();
}
