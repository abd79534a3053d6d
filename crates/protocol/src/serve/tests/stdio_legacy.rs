//! The legacy era on stdio.

use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinSet;

use super::sample::{TestServer, initialize_params, legacy, tool};

/// A client that is connected to the server by in-memory pipes.
pub(super) struct StdioClient {
    pub(super) test: TestServer,
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinSet<std::io::Result<()>>,
}

impl StdioClient {
    pub(super) fn new() -> Self {
        let test = TestServer::new();
        let (near, far) = tokio::io::duplex(64 << 10);
        let server = test.server.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let (input, output) = tokio::io::split(far);
            server.serve_stdio(input, output).await
        });
        let (output, input) = tokio::io::split(near);
        Self { test, input: Some(input), output: BufReader::new(output).lines(), serving }
    }

    pub(super) async fn initialized(version: &str) -> Self {
        let mut client = Self::new();
        client.send(&legacy(0, "initialize", &initialize_params(version))).await;
        client.receive().await;
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client.test.wait_for("notifications/initialized").await;
        client
    }

    pub(super) async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    pub(super) async fn receive(&mut self) -> String {
        let waiting = tokio::time::timeout(Duration::from_secs(30), self.output.next_line());
        waiting.await.expect("no line within 30 s").unwrap().expect("the output ended")
    }

    /// Ends the input of the server.
    pub(super) async fn close_input(&mut self) {
        let mut input = self.input.take().unwrap();
        input.shutdown().await.unwrap();
        drop(input);
    }

    pub(super) async fn wait_for_exit(&mut self) {
        self.serving.join_next().await.unwrap().unwrap().unwrap();
    }

    pub(super) async fn check(&mut self, line: &str, expected: &str) {
        self.send(line).await;
        assert_eq!(self.receive().await, expected, "{line}");
    }
}

#[tokio::test]
async fn initialize_accepts_the_revision_of_the_client_if_it_is_known() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = StdioClient::new();
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{agreed}","capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"sample","version":"1.0.0"}},"instructions":"Be nice."}}}}"#
        );
        client.check(&legacy(1, "initialize", &initialize_params(asked)), &expected).await;
    }
}

#[tokio::test]
async fn results_are_sent_unchanged_but_on_one_line() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client
        .check(&legacy(1, "tools/list", "{}"), r#"{"jsonrpc":"2.0","id":1,"result":{"tools": []}}"#)
        .await;
    client.check(
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"n":1.50}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{\"n\":1.50}"}]}}"#,
    )
    .await;
}

#[tokio::test]
async fn invalid_messages_are_answered_and_do_not_affect_the_next() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    let invalid = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#;
    client
        .check("hello", r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#)
        .await;
    client.check(r#"{"level":"info"}"#, invalid).await;
    client.check("[]", invalid).await;
    client.check(
        &legacy(1, "server/discover", "{}"),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: server/discover"}}"#,
    )
    .await;
    client
        .check(
            &legacy(2, "initialize", &initialize_params("2025-11-25")),
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Already initialized"}}"#,
        )
        .await;
    client.check(&legacy(3, "ping", "{}"), r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).await;
}

#[tokio::test]
async fn before_initialize_only_a_ping_is_answered() {
    let mut client = StdioClient::new();
    client.check(&legacy(1, "ping", "{}"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    client.check(
        &legacy(2, "tools/list", "{}"),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: _meta is required"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_slow_call_does_not_delay_a_fast_one() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.send(&legacy(1, "tools/call", &tool("gate"))).await;
    client
        .check(
            &legacy(2, "tools/call", r#"{"name":"add","arguments":{"numbers":[1,2]}}"#),
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}]}}"#,
        )
        .await;
    client.test.gate.notify_one();
    assert!(client.receive().await.contains("gate passed"));
}

#[tokio::test]
async fn a_cancelled_call_ends_and_is_not_answered() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.send(&legacy(1, "tools/call", &tool("slow"))).await;
    client.test.wait_for("slow started").await;
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    client.test.wait_for("slow cancelled").await;
    client.check(&legacy(2, "ping", "{}"), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
}

#[tokio::test]
async fn progress_and_logs_come_before_the_result() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.check(
        &legacy(1, "tools/call", &tool("progress")),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1.0,"total":2.0,"message":"one"}}"#,
    )
    .await;
    assert!(client.receive().await.contains("two"));
    assert!(client.receive().await.contains("done"));

    client.check(
        &legacy(2, "tools/call", &tool("log")),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"debug"}}"#,
    )
    .await;
    assert!(client.receive().await.contains(r#""level":"error""#));
    assert!(client.receive().await.contains("logged"));
}

#[tokio::test]
async fn the_log_level_of_a_session_is_respected() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client
        .check(
            &legacy(1, "logging/setLevel", r#"{"level":"warning"}"#),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        )
        .await;
    client.send(&legacy(2, "tools/call", &tool("log"))).await;
    assert!(client.receive().await.contains(r#""level":"error""#));
    assert!(client.receive().await.contains("logged"));
    client.check(
        &legacy(3, "logging/setLevel", r#"{"level":"loud"}"#),
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: unknown level"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_service_can_send_requests_to_the_client() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client
        .check(
            &legacy(9, "tools/call", &tool("elicit")),
            r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#,
        )
        .await;
    client.check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\"}"}]}}"#,
    )
    .await;
    client.send(&legacy(10, "tools/call", &tool("sample"))).await;
    assert!(client.receive().await.contains(r#""id":2,"method":"sampling/createMessage""#));
    client
        .check(
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":10,"error":{"code":-1,"message":"the client answered with an error"}}"#,
        )
        .await;
}

#[tokio::test]
async fn a_server_request_is_cancelled_with_its_call() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.send(&legacy(9, "tools/call", &tool("elicit"))).await;
    client.receive().await;
    client
        .check(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        )
        .await;
    client.test.wait_for("request failed: the client cancelled the call").await;
}

#[tokio::test]
async fn list_changes_reach_every_session_and_resource_updates_only_subscribers() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client
        .check(
            &legacy(1, "resources/subscribe", r#"{"uri":"test://watched"}"#),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        )
        .await;
    client
        .check(
            &legacy(2, "tools/call", &tool("change")),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        )
        .await;
    assert_eq!(
        client.receive().await,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://watched"}}"#
    );
    assert!(client.receive().await.contains("changed"));
}

#[tokio::test]
async fn a_batch_is_answered_as_one_where_the_revision_has_them() {
    let batch = format!(
        r#"[{},{{"x":1}},{{"jsonrpc":"2.0","method":"notifications/x"}},{}]"#,
        legacy(1, "tools/call", &tool("gate")),
        legacy(2, "ping", "{}")
    );
    let mut client = StdioClient::initialized("2025-03-26").await;
    client.send(&batch).await;
    client.test.wait_for("gate reached").await;
    client.test.gate.notify_one();
    assert_eq!(
        client.receive().await,
        r#"[{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"gate passed"}]}}]"#
    );

    let mut client = StdioClient::initialized("2025-06-18").await;
    client
        .check(
            &batch,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batches are not supported"}}"#,
        )
        .await;
}

#[tokio::test(start_paused = true)]
async fn calls_may_finish_after_the_end_of_input() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.send(&legacy(1, "tools/call", &tool("gate"))).await;
    client.test.wait_for("gate reached").await;
    client.close_input().await;
    client.test.gate.notify_one();
    assert!(client.receive().await.contains("gate passed"));
    client.wait_for_exit().await;
    client.test.wait_for("session ended").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_finish_is_dropped_after_the_end_of_input() {
    let mut client = StdioClient::initialized("2025-11-25").await;
    client.send(&legacy(1, "tools/call", &tool("stubborn"))).await;
    client.send(&legacy(2, "tools/call", &tool("elicit"))).await;
    client.test.wait_for("stubborn started").await;
    client.receive().await;
    let start = tokio::time::Instant::now();
    client.close_input().await;
    // A call that waits for the client fails immediately.
    client.test.wait_for("request failed: the client is gone").await;
    client.wait_for_exit().await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_client_that_reads_late_loses_no_answers() {
    const COUNT: u32 = 3000;
    let mut client = StdioClient::initialized("2025-11-25").await;
    let mut input = client.input.take().unwrap();
    let writing = async move {
        for id in 0..COUNT {
            let filler = "x".repeat(1000);
            let params = format!(r#"{{"name":"echo","arguments":{{"text":"{filler}"}}}}"#);
            let line = legacy(id, "tools/call", &params) + "\n";
            input.write_all(line.as_bytes()).await.unwrap();
        }
        input
    };
    let reading = async {
        for id in 0..COUNT {
            let line = client.receive().await;
            assert!(line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{line}");
        }
    };
    tokio::join!(writing, reading);
}
