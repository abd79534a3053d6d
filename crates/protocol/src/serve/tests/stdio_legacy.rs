//! The older era on two pipes.

use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinSet;

use super::sample::{Stage, hello, legacy, tool};

/// A client on the other end of the pipes.
pub(super) struct Talk {
    pub(super) stage: Stage,
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinSet<std::io::Result<()>>,
}

impl Talk {
    pub(super) fn new() -> Self {
        let stage = Stage::new();
        let (near, far) = tokio::io::duplex(64 << 10);
        let server = stage.server.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let (input, output) = tokio::io::split(far);
            server.serve_stdio(input, output).await
        });
        let (output, input) = tokio::io::split(near);
        Self { stage, input: Some(input), output: BufReader::new(output).lines(), serving }
    }

    pub(super) async fn initialized(version: &str) -> Self {
        let mut talk = Self::new();
        talk.say(&legacy(0, "initialize", &hello(version))).await;
        talk.hear().await;
        talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        talk.stage.until("notifications/initialized").await;
        talk
    }

    pub(super) async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> String {
        let waiting = tokio::time::timeout(Duration::from_secs(30), self.output.next_line());
        waiting.await.expect("nothing to hear").unwrap().expect("the end")
    }

    /// Ends the input and waits for the server to end.
    pub(super) async fn hang_up(&mut self) {
        let mut input = self.input.take().unwrap();
        input.shutdown().await.unwrap();
        drop(input);
    }

    pub(super) async fn ended(&mut self) {
        self.serving.join_next().await.unwrap().unwrap().unwrap();
    }

    pub(super) async fn check(&mut self, line: &str, expected: &str) {
        self.say(line).await;
        assert_eq!(self.hear().await, expected, "{line}");
    }
}

#[tokio::test]
async fn initialize_agrees_on_the_clients_revision_if_it_is_known() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut talk = Talk::new();
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{agreed}","capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"sample","version":"1.0.0"}},"instructions":"Be nice."}}}}"#
        );
        talk.check(&legacy(1, "initialize", &hello(asked)), &expected).await;
    }
}

#[tokio::test]
async fn results_leave_as_the_service_made_them_but_on_one_line() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(
        &legacy(1, "tools/list", "{}"),
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools": []}}"#,
    )
    .await;
    talk.check(
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"n":1.50}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{\"n\":1.50}"}]}}"#,
    )
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_answered_and_the_next_message_is_fine() {
    let mut talk = Talk::initialized("2025-11-25").await;
    let invalid = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#;
    talk.check("hello", r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#)
        .await;
    talk.check(r#"{"level":"info"}"#, invalid).await;
    talk.check("[]", invalid).await;
    talk.check(
        &legacy(1, "server/discover", "{}"),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: server/discover"}}"#,
    )
    .await;
    talk.check(
        &legacy(2, "initialize", &hello("2025-11-25")),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Already initialized"}}"#,
    )
    .await;
    talk.check(&legacy(3, "ping", "{}"), r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).await;
}

#[tokio::test]
async fn before_initialize_only_a_ping_is_answered() {
    let mut talk = Talk::new();
    talk.check(&legacy(1, "ping", "{}"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    talk.check(
        &legacy(2, "tools/list", "{}"),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: _meta is required"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_slow_call_does_not_delay_a_fast_one() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.say(&legacy(1, "tools/call", &tool("gate"))).await;
    talk.check(
        &legacy(2, "tools/call", r#"{"name":"add","arguments":{"numbers":[1,2]}}"#),
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}]}}"#,
    )
    .await;
    talk.stage.gate.notify_one();
    assert!(talk.hear().await.contains("gate passed"));
}

#[tokio::test]
async fn a_cancelled_call_ends_and_is_not_answered() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.say(&legacy(1, "tools/call", &tool("slow"))).await;
    talk.stage.until("slow started").await;
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    talk.stage.until("slow cancelled").await;
    talk.check(&legacy(2, "ping", "{}"), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
}

#[tokio::test]
async fn progress_and_logs_come_before_the_result() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(
        &legacy(1, "tools/call", &tool("progress")),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1.0,"total":2.0,"message":"one"}}"#,
    )
    .await;
    assert!(talk.hear().await.contains("two"));
    assert!(talk.hear().await.contains("done"));

    talk.check(
        &legacy(2, "tools/call", &tool("log")),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"debug"}}"#,
    )
    .await;
    assert!(talk.hear().await.contains(r#""level":"error""#));
    assert!(talk.hear().await.contains("logged"));
}

#[tokio::test]
async fn the_log_level_of_a_session_is_kept_to() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(
        &legacy(1, "logging/setLevel", r#"{"level":"warning"}"#),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    )
    .await;
    talk.say(&legacy(2, "tools/call", &tool("log"))).await;
    assert!(talk.hear().await.contains(r#""level":"error""#));
    assert!(talk.hear().await.contains("logged"));
    talk.check(
        &legacy(3, "logging/setLevel", r#"{"level":"loud"}"#),
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: unknown level"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_service_can_ask_the_client_and_gets_its_answer() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(
        &legacy(9, "tools/call", &tool("elicit")),
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#,
    )
    .await;
    talk.check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\"}"}]}}"#,
    )
    .await;
    talk.say(&legacy(10, "tools/call", &tool("sample"))).await;
    assert!(talk.hear().await.contains(r#""id":2,"method":"sampling/createMessage""#));
    talk.check(
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":10,"error":{"code":-1,"message":"the client refused"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_question_is_withdrawn_when_its_call_is_cancelled() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.say(&legacy(9, "tools/call", &tool("elicit"))).await;
    talk.hear().await;
    talk.check(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    )
    .await;
    talk.stage.until("asking failed: the call was cancelled").await;
}

#[tokio::test]
async fn changes_reach_the_session_and_resources_only_if_subscribed() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.check(
        &legacy(1, "resources/subscribe", r#"{"uri":"test://watched"}"#),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    )
    .await;
    talk.check(
        &legacy(2, "tools/call", &tool("change")),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    )
    .await;
    assert_eq!(
        talk.hear().await,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://watched"}}"#
    );
    assert!(talk.hear().await.contains("changed"));
}

#[tokio::test]
async fn a_batch_is_answered_as_one_where_the_revision_has_them() {
    let batch = format!(
        r#"[{},{{"x":1}},{{"jsonrpc":"2.0","method":"notifications/x"}},{}]"#,
        legacy(1, "tools/call", &tool("gate")),
        legacy(2, "ping", "{}")
    );
    let mut talk = Talk::initialized("2025-03-26").await;
    talk.say(&batch).await;
    talk.stage.until("gate reached").await;
    talk.stage.gate.notify_one();
    assert_eq!(
        talk.hear().await,
        r#"[{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"gate passed"}]}}]"#
    );

    let mut talk = Talk::initialized("2025-06-18").await;
    talk.check(
        &batch,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batches are not supported"}}"#,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_leaves_calls_a_moment_to_finish() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.say(&legacy(1, "tools/call", &tool("gate"))).await;
    talk.stage.until("gate reached").await;
    talk.hang_up().await;
    talk.stage.gate.notify_one();
    assert!(talk.hear().await.contains("gate passed"));
    talk.ended().await;
    talk.stage.until("session ended").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_finish_is_dropped_after_the_end_of_input() {
    let mut talk = Talk::initialized("2025-11-25").await;
    talk.say(&legacy(1, "tools/call", &tool("stubborn"))).await;
    talk.say(&legacy(2, "tools/call", &tool("elicit"))).await;
    talk.stage.until("stubborn started").await;
    talk.hear().await;
    let start = tokio::time::Instant::now();
    talk.hang_up().await;
    // Whoever waits for the client need not wait any more.
    talk.stage.until("asking failed: the client is gone").await;
    talk.ended().await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_client_that_sends_much_and_reads_late_loses_nothing() {
    const COUNT: u32 = 3000;
    let mut talk = Talk::initialized("2025-11-25").await;
    let mut input = talk.input.take().unwrap();
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
            let line = talk.hear().await;
            assert!(line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{line}");
        }
    };
    tokio::join!(writing, reading);
}
