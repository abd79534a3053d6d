//! The modern era on stdio.

use std::time::Duration;

use super::sample::{legacy, modern};
use super::stdio_legacy::StdioClient;

const INFO: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sample","version":"1.0.0"}}"#;

#[tokio::test]
async fn discover_returns_versions_capabilities_and_instructions() {
    let mut client = StdioClient::new();
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{INFO},"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"logging":{{}}}},"instructions":"Be nice."}}}}"#
    );
    client.check(&modern(1, "server/discover", "", "{}"), &expected).await;
}

#[tokio::test]
async fn missing_members_are_added_to_results() {
    let mut client = StdioClient::new();
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{INFO},"tools": []}}}}"#
    );
    client.check(&modern(1, "tools/list", "", "{}"), &expected).await;
}

#[tokio::test]
async fn both_eras_work_on_the_same_connection() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.check(&legacy(1, "ping", "{}"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    client.check(
        &modern(2, "ping", "", "{}"),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found: ping"}}"#,
    )
    .await;
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_known_ones() {
    let mut client = StdioClient::new();
    client.check(
        &legacy(
            1,
            "tools/list",
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}"#,
        ),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"2030-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}}"#,
    )
    .await;
}

#[tokio::test]
async fn input_requests_are_a_result_and_are_answered_by_a_new_request() {
    let mut client = StdioClient::new();
    let name = r#""name":"elicit""#;
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{{INFO},"resultType":"input_required","inputRequests":{{"q":{{"method":"elicitation/create","params":{{"message":"?"}}}}}}}}}}"#
    );
    client.check(&modern(1, "tools/call", name, r#"{"elicitation":{}}"#), &expected).await;
    let again = format!(r#"{name},"inputResponses":{{"q":{{"action":"accept"}}}}"#);
    client.send(&modern(2, "tools/call", &again, r#"{"elicitation":{}}"#)).await;
    assert!(client.receive().await.contains(r#"{\"q\":{\"action\":\"accept\"}}"#));
    client.check(
        &modern(3, "tools/call", name, "{}"),
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
    )
    .await;
}

#[tokio::test]
async fn log_messages_come_only_to_requests_that_want_them() {
    let mut client = StdioClient::new();
    let call = modern(1, "tools/call", r#""name":"log""#, "{}");
    client.send(&call).await;
    assert!(client.receive().await.contains("logged"));
    let loud = call.replace(
        r#""progressToken""#,
        r#""io.modelcontextprotocol/logLevel":"error","progressToken""#,
    );
    client.send(&loud).await;
    assert!(client.receive().await.contains(r#""level":"error""#));
    assert!(client.receive().await.contains("logged"));
}

#[tokio::test]
async fn a_subscription_is_acknowledged_filtered_and_ended() {
    let mut client = StdioClient::new();
    let wanted = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["test://watched"]}"#;
    client.check(
        &modern(5, "subscriptions/listen", wanted, "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://watched"]},"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#,
    )
    .await;
    client.check(
        &modern(6, "tools/call", r#""name":"change""#, "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#,
    )
    .await;
    assert_eq!(
        client.receive().await,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://watched","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#
    );
    assert!(client.receive().await.contains("changed"));

    client.test.server.close(Duration::from_secs(1)).await;
    assert_eq!(
        client.receive().await,
        r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sample","version":"1.0.0"},"io.modelcontextprotocol/subscriptionId":5}}}"#
    );
    client.wait_for_exit().await;
    assert_eq!(client.test.server.change_notifier().subscriber_count(), 0);
}

#[tokio::test]
async fn a_cancelled_subscription_gets_no_notifications() {
    let mut client = StdioClient::new();
    let wanted = r#""notifications":{"toolsListChanged":true}"#;
    client.send(&modern(5, "subscriptions/listen", wanted, "{}")).await;
    client.receive().await;
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#)
        .await;
    client.test.until_subscriber_count(0).await;
    client.send(&modern(6, "tools/call", r#""name":"change""#, "{}")).await;
    assert!(client.receive().await.contains(r#""id":6"#));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_does_not_delay_shutdown() {
    let mut client = StdioClient::new();
    client.send(&modern(5, "subscriptions/listen", r#""notifications":{}"#, "{}")).await;
    client.receive().await;
    let start = tokio::time::Instant::now();
    client.close_input().await;
    client.wait_for_exit().await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
