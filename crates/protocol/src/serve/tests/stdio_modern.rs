//! The modern era on two pipes.

use std::time::Duration;

use super::sample::{legacy, modern};
use super::stdio_legacy::Talk;

const INFO: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sample","version":"1.0.0"}}"#;

#[tokio::test]
async fn discover_tells_everything_at_once() {
    let mut talk = Talk::new();
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{INFO},"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"logging":{{}}}},"instructions":"Be nice."}}}}"#
    );
    talk.check(&modern(1, "server/discover", "", "{}"), &expected).await;
}

#[tokio::test]
async fn results_are_completed_and_otherwise_left_alone() {
    let mut talk = Talk::new();
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{INFO},"tools": []}}}}"#
    );
    talk.check(&modern(1, "tools/list", "", "{}"), &expected).await;
}

#[tokio::test]
async fn both_eras_can_be_spoken_on_the_same_pipe() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(&legacy(1, "ping", "{}"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    talk.check(
        &modern(2, "ping", "", "{}"),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found: ping"}}"#,
    )
    .await;
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_known_ones() {
    let mut talk = Talk::new();
    talk.check(
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
async fn a_question_is_a_result_and_its_answer_a_new_request() {
    let mut talk = Talk::new();
    let name = r#""name":"elicit""#;
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{{INFO},"resultType":"input_required","inputRequests":{{"q":{{"method":"elicitation/create","params":{{"message":"?"}}}}}}}}}}"#
    );
    talk.check(&modern(1, "tools/call", name, r#"{"elicitation":{}}"#), &expected).await;
    let again = format!(r#"{name},"inputResponses":{{"q":{{"action":"accept"}}}}"#);
    talk.say(&modern(2, "tools/call", &again, r#"{"elicitation":{}}"#)).await;
    assert!(talk.hear().await.contains(r#"{\"q\":{\"action\":\"accept\"}}"#));
    talk.check(
        &modern(3, "tools/call", name, "{}"),
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
    )
    .await;
}

#[tokio::test]
async fn log_messages_come_only_to_requests_that_want_them() {
    let mut talk = Talk::new();
    let call = modern(1, "tools/call", r#""name":"log""#, "{}");
    talk.say(&call).await;
    assert!(talk.hear().await.contains("logged"));
    let loud = call.replace(
        r#""progressToken""#,
        r#""io.modelcontextprotocol/logLevel":"error","progressToken""#,
    );
    talk.say(&loud).await;
    assert!(talk.hear().await.contains(r#""level":"error""#));
    assert!(talk.hear().await.contains("logged"));
}

#[tokio::test]
async fn a_subscription_is_acknowledged_filtered_and_ended() {
    let mut talk = Talk::new();
    let wanted = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["test://watched"]}"#;
    talk.check(
        &modern(5, "subscriptions/listen", wanted, "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://watched"]}}}"#,
    )
    .await;
    talk.check(
        &modern(6, "tools/call", r#""name":"change""#, "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}"#,
    )
    .await;
    assert_eq!(
        talk.hear().await,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"uri":"test://watched"}}"#
    );
    assert!(talk.hear().await.contains("changed"));

    talk.stage.server.close(Duration::from_secs(1)).await;
    assert_eq!(
        talk.hear().await,
        r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sample","version":"1.0.0"},"io.modelcontextprotocol/subscriptionId":5}}}"#
    );
    talk.ended().await;
    assert_eq!(talk.stage.server.announcer().audience(), 0);
}

#[tokio::test]
async fn a_cancelled_subscription_hears_nothing_more() {
    let mut talk = Talk::new();
    let wanted = r#""notifications":{"toolsListChanged":true}"#;
    talk.say(&modern(5, "subscriptions/listen", wanted, "{}")).await;
    talk.hear().await;
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#)
        .await;
    talk.stage.until_audience(0).await;
    talk.say(&modern(6, "tools/call", r#""name":"change""#, "{}")).await;
    assert!(talk.hear().await.contains(r#""id":6"#));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_does_not_delay_the_end() {
    let mut talk = Talk::new();
    talk.say(&modern(5, "subscriptions/listen", r#""notifications":{}"#, "{}")).await;
    talk.hear().await;
    let start = tokio::time::Instant::now();
    talk.hang_up().await;
    talk.ended().await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
