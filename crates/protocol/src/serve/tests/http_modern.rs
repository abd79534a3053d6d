//! The modern era over HTTP: headers, statuses, streams that end with their connection.

use http::Method;

use super::http_client::{HttpTestClient, TestReply};
use super::sample::{TestServer, legacy, modern};
use crate::serve::HttpServerOptions;

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

async fn test_server() -> (TestServer, HttpTestClient) {
    let test = TestServer::new();
    let web = HttpTestClient::serve(&test.server, HttpServerOptions::default()).await;
    (test, web)
}

async fn call(web: &HttpTestClient, tool: &str, capabilities: &str) -> TestReply {
    let body =
        modern(1, "tools/call", &format!(r#""name":"{tool}","arguments":{{}}"#), capabilities);
    web.post(&body, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", tool)]).await
}

#[tokio::test]
async fn a_request_needs_no_session() {
    let (_test, web) = test_server().await;
    let reply = web
        .post(&modern(1, "tools/list", "", "{}"), &[VERSION, ("mcp-method", "tools/list")])
        .await;
    assert_eq!(reply.header("mcp-session-id"), "");
    assert_eq!(
        reply.status_and_text().await,
        r#"200 {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sample","version":"1.0.0"}},"tools": []}}"#
    );
}

async fn refused(web: &HttpTestClient, body: &str, headers: &[(&str, &str)], expected: &str) {
    let rendered = web.post(body, headers).await.status_and_text().await;
    assert!(rendered.starts_with(expected), "{rendered}\n  for {body} {headers:?}");
    assert!(rendered.contains(r#""id":1,"#), "{rendered}");
}

#[tokio::test]
async fn headers_that_do_not_agree_with_the_body_are_refused() {
    let (_test, web) = test_server().await;
    let mismatch = r#"400 {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"#;
    let list = modern(1, "tools/list", "", "{}");
    let method = ("mcp-method", "tools/list");
    refused(&web, &list, &[VERSION], mismatch).await;
    refused(&web, &list, &[VERSION, ("mcp-method", "TOOLS/LIST")], mismatch).await;
    refused(&web, &list, &[method], mismatch).await;
    refused(&web, &list, &[method, ("mcp-protocol-version", "2025-11-25")], mismatch).await;
    let unknown = list.replace("2026-07-28", "v999");
    refused(&web, &unknown, &[VERSION, method], mismatch).await;
    let echo = modern(1, "tools/call", r#""name":"echo""#, "{}");
    let method = ("mcp-method", "tools/call");
    refused(&web, &echo, &[VERSION, method], mismatch).await;
    refused(&web, &echo, &[VERSION, method, ("mcp-name", "other")], mismatch).await;
    let coded = [VERSION, method, ("mcp-name", "=?base64?ZWNobw==?=")];
    assert_eq!(web.post(&echo, &coded).await.status(), 200);
}

#[tokio::test]
async fn missing_or_unsupported_client_meta_is_refused() {
    let (_test, web) = test_server().await;
    let method = ("mcp-method", "tools/list");
    let invalid = r#"400 {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"#;
    refused(&web, &legacy(1, "tools/list", "{}"), &[VERSION, method], invalid).await;
    refused(&web, &legacy(1, "tools/list", r#"{"_meta":{}}"#), &[VERSION, method], invalid).await;
    let silent = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    refused(&web, &legacy(1, "tools/list", silent), &[VERSION, method], invalid).await;
    let unsupported = r#"400 {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"v999","supported":["2026-07-28","#;
    let unknown = modern(1, "tools/list", "", "{}").replace("2026-07-28", "v999");
    refused(&web, &unknown, &[("mcp-protocol-version", "v999"), method], unsupported).await;
    let bare = legacy(1, "tools/list", "{}");
    refused(&web, &bare, &[("mcp-protocol-version", "v999"), method], unsupported).await;
}

#[tokio::test]
async fn methods_that_do_not_exist_are_not_found() {
    let (_test, web) = test_server().await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "x/y"] {
        let body = modern(1, method, "", "{}");
        let expected = format!(
            r#"404 {{"jsonrpc":"2.0","id":1,"error":{{"code":-32601,"message":"Method not found: {method}"}}}}"#
        );
        refused(&web, &body, &[VERSION, ("mcp-method", method)], &expected).await;
    }
}

#[tokio::test]
async fn errors_of_the_service_are_mapped_to_http_statuses() {
    let (_test, web) = test_server().await;
    assert_eq!(call(&web, "elicit", "{}").await.status(), 400);
    assert_eq!(call(&web, "elicit", r#"{"elicitation":{}}"#).await.status(), 200);
    assert_eq!(call(&web, "no-such-tool", "{}").await.status(), 200);
}

#[tokio::test]
async fn the_service_checks_the_param_headers() {
    let (_test, web) = test_server().await;
    let body = modern(1, "tools/call", r#""name":"city","arguments":{"city":"Köln"}"#, "{}");
    let headers = [VERSION, ("mcp-method", "tools/call"), ("mcp-name", "city")];
    let with = |city| [&headers[..], &[("mcp-param-city", city)]].concat();
    assert_eq!(web.post(&body, &with("=?base64?S8O2bG4=?=")).await.status(), 200);
    assert_eq!(web.post(&body, &with("Rom")).await.status(), 400);
    assert_eq!(web.post(&body, &with("=?base64?S8O2bG4?=")).await.status(), 400);
    assert_eq!(web.post(&body, &headers).await.status(), 400);
}

#[tokio::test]
async fn a_modern_stream_has_no_event_ids() {
    let (_test, web) = test_server().await;
    let mut reply = call(&web, "progress", "{}").await;
    assert!(reply.is_stream());
    assert_eq!(
        reply.block().await.unwrap(),
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\",\"progress\":1.0,\"total\":2.0,\"message\":\"one\"}}"
    );
    reply.event().await.unwrap();
    assert!(reply.event().await.unwrap().1.contains(r#""resultType":"complete""#));
    assert!(reply.event().await.is_none());
}

#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let (mut test, web) = test_server().await;
    {
        let call = call(&web, "slow", "{}");
        tokio::select! {
            _ = call => panic!("the call was answered"),
            _ = test.wait_for("slow started") => {}
        }
    }
    test.wait_for("slow cancelled").await;
}

#[tokio::test]
async fn a_subscription_is_a_stream_that_begins_with_the_accepted_filter() {
    let (mut test, web) = test_server().await;
    let wanted = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#;
    let body = modern(5, "subscriptions/listen", wanted, "{}");
    let mut listening = web.post(&body, &[VERSION, ("mcp-method", "subscriptions/listen")]).await;
    assert_eq!(
        listening.event().await.unwrap().1,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#
    );
    test.wait_for("listening 5").await;
    assert_eq!(call(&web, "change", "{}").await.status(), 200);
    assert_eq!(
        listening.event().await.unwrap().1,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#
    );
    let server = test.server.clone();
    let closing = server.close(std::time::Duration::from_secs(5));
    let ending = async {
        let (_, end) = listening.event().await.unwrap();
        assert!(end.starts_with(r#"{"jsonrpc":"2.0","id":5,"result":{"#), "{end}");
        assert!(listening.event().await.is_none());
    };
    tokio::join!(closing, ending);
}

#[tokio::test]
async fn a_subscription_ends_with_its_connection() {
    let (test, web) = test_server().await;
    let body = modern(5, "subscriptions/listen", r#""notifications":{}"#, "{}");
    let mut listening = web.post(&body, &[VERSION, ("mcp-method", "subscriptions/listen")]).await;
    listening.event().await.unwrap();
    assert_eq!(test.server.change_notifier().subscriber_count(), 1);
    drop(listening);
    test.until_subscriber_count(0).await;
}

#[tokio::test]
async fn only_post_is_allowed() {
    let (_test, web) = test_server().await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let reply = web.send(method.clone(), "", &[VERSION]).await;
        assert_eq!((reply.status(), reply.header("allow")), (405, "POST"), "{method}");
    }
    let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(web.post(note, &[VERSION]).await.status(), 202);
}
