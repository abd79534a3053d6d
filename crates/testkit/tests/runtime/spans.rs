//! Tests the spans and events of `tracing`, and that they contain no payloads or secrets.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::Status;
use wharf_protocol::serve::{
    Client, DescriptionFuture, HttpServerOptions, McpServer, ServerDescription, ServerInfo,
    Service, ServiceAnswer, ServiceCall,
};
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, call, kill, until};
use super::recorder::Recorder;

fn echo() -> Script {
    Script::with_tools(["echo"])
}

#[tokio::test]
async fn connection_spans_have_the_attempt_and_the_era() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({}));
    fixture.actor("bad", &Script { exit: Some(3), ..echo() }, json!({}));
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let runtime = fixture.start();
    runtime.ready().await;
    kill(actor_log.starts()[0]);
    let status = |wanted| move |it: &wharf::Snapshot| it.server("fs").unwrap().status == wanted;
    until(&runtime, "the loss is noticed", status(Status::Reconnecting)).await;
    until(&runtime, "it is back", status(Status::Connected)).await;
    runtime.shutdown().await;
    drop(listening);
    let about = recorder.lines("server=fs");
    // The order of closed connections relative to other lines is not fixed.
    let (lives, others): (Vec<_>, Vec<_>) =
        about.lines().partition(|line| line.starts_with("CLOSED connection"));
    assert_snapshot!(lives.join("\n"), @"
    CLOSED connection{server=fs attempt=1 transport=stdio era=Legacy ended=lost}
    CLOSED connection{server=fs attempt=1 transport=stdio era=Legacy ended=stopped}
    ");
    assert_snapshot!(others.join("\n"), @"
    DEBUG: the status of a server changed server=fs status=connecting
    INFO connection{server=fs attempt=1} connect{server=fs attempt=1 transport=stdio era=Legacy}: server started revision=2025-11-25
    CLOSED connect{server=fs attempt=1 transport=stdio era=Legacy}
    DEBUG: the status of a server changed server=fs status=connected
    WARN connection{server=fs attempt=1 transport=stdio era=Legacy}: server lost server=fs
    DEBUG: the status of a server changed server=fs status=reconnecting
    INFO connection{server=fs attempt=1} connect{server=fs attempt=1 transport=stdio era=Legacy}: server started revision=2025-11-25
    CLOSED connect{server=fs attempt=1 transport=stdio era=Legacy}
    DEBUG: the status of a server changed server=fs status=connected
    DEBUG: the status of a server changed server=fs status=disconnected
    INFO connection{server=fs attempt=1 transport=stdio era=Legacy}: server stopped server=fs
    ");
    assert_snapshot!(recorder.lines("server=bad"), @"
    DEBUG: the status of a server changed server=bad status=connecting
    WARN connection{server=bad attempt=1} connect{server=bad attempt=1}: server did not start kind=Connect
    CLOSED connect{server=bad attempt=1}
    CLOSED connection{server=bad attempt=1 ended=failed}
    DEBUG: the status of a server changed server=bad status=failed
    DEBUG: the status of a server changed server=bad status=disconnected
    ");
}

#[tokio::test]
async fn call_spans_have_the_server_the_tool_the_attempt_and_the_era() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let recorder = Recorder::default();
    let listening = recorder.listen();
    call(&runtime, "mcp_fs_echo", json!({ "text": "hello" })).await;
    call(&runtime, "mcp_fs_echo", json!({ "fail": true })).await;
    call(&runtime, "mcp_fs_echo", json!({ "die": "after-read" })).await;
    drop(listening);
    runtime.shutdown().await;
    assert_snapshot!(recorder.lines("CLOSED attempt"), @"
    CLOSED attempt{attempt=1 era=Legacy}
    CLOSED attempt{attempt=1 era=Legacy}
    CLOSED attempt{attempt=1 era=Legacy}
    ");
    assert_snapshot!(recorder.lines("call"), @"
    DEBUG call{server=fs tool=echo}: call answered is_error=false
    CLOSED call{server=fs tool=echo}
    DEBUG call{server=fs tool=echo}: call answered is_error=true
    CLOSED call{server=fs tool=echo}
    DEBUG call{server=fs tool=echo}: call failed kind=TERMINAL reason=Lost
    CLOSED call{server=fs tool=echo}
    ");
}

#[tokio::test]
async fn nothing_that_is_sent_or_received_is_in_a_span_or_event() {
    let mut fixture = Fixture::new();
    let loud = Script { stderr: "canary-stderr".into(), ..echo() };
    fixture.actor("fs", &loud, json!({ "env": { "KEY": "canary-env" } }));
    let failing = Script { stderr: "canary-stderr".into(), exit: Some(1), ..echo() };
    fixture.actor("bad", &failing, json!({ "env": { "KEY": "canary-env" } }));
    let rude = Script { hello_error: Some("canary-hello".into()), ..echo() };
    fixture.actor("rude", &rude, json!({}));
    let listless = Script { list_error: Some("canary-list".into()), ..echo() };
    fixture.actor("listless", &listless, json!({}));
    let headers = json!({ "Authorization": "Bearer canary-header" });
    fixture
        .server("far", json!({ "url": "http://127.0.0.1:1/?key=canary-url", "headers": headers }));
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let runtime = fixture.start();
    runtime.ready().await;
    for arguments in [
        json!({ "text": "canary-text" }),
        json!({ "text": "canary-text", "fail": true }),
        json!({ "refuse": "canary-refusal", "log": "canary-log", "notify": "canary-notice" }),
        json!({ "text": "canary-text", "die": "after-effect" }),
    ] {
        call(&runtime, "mcp_fs_echo", arguments).await;
    }
    runtime.shutdown().await;
    drop(listening);
    assert!(recorder.lines("CLOSED connect{").lines().count() >= 5, "{}", recorder.lines(""));
    assert_eq!(
        recorder.lines("a notification was ignored").lines().count(),
        1,
        "{}",
        recorder.lines("")
    );
    assert_eq!(recorder.lines("canary"), "");
}

/// A server whose only tool violates the protocol.
struct ViolatingService;

impl Service for ViolatingService {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("canary-name", "canary-version")
    }

    fn describe(self: Arc<Self>, _: Client) -> DescriptionFuture {
        Box::pin(async { ServerDescription::new(r#"{"tools":{}}"#.parse().unwrap()) })
    }

    fn handle(self: Arc<Self>, _: ServiceCall) -> ServiceAnswer {
        let key = json!({ "type": "string", "x-mcp-header": "canary header" });
        let schema = json!({ "type": "object", "properties": { "key": key } });
        let tools = json!({ "tools": [{ "name": "canary-tool", "inputSchema": schema }] });
        Box::pin(async move { Ok(tools.to_string().parse().unwrap()) })
    }
}

#[tokio::test]
async fn violations_are_logged_without_text_of_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        McpServer::new(ViolatingService)
            .serve_http(listener, HttpServerOptions::default())
            .await
            .unwrap();
    });
    let mut fixture = Fixture::new();
    fixture.server("violating", json!({ "url": format!("http://{address}/mcp") }));
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    runtime.shutdown().await;
    drop(listening);
    assert_snapshot!(recorder.lines("deviates"), @"DEBUG connection{server=violating attempt=1} connect{server=violating attempt=1}: the server deviates from the specification");
    assert_eq!(recorder.lines("canary"), "");
    // The list of violations has the name of the tool.
    let warnings = snapshot.server("violating").unwrap().violations();
    assert_snapshot!(warnings.join("\n"), @r#"tool "canary-tool": the value of `x-mcp-header` is not a valid header name"#);
}

#[tokio::test]
async fn the_context_of_a_call_is_in_its_span() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let context = wharf::CallContext::new("agent-7", "research");
    let call = runtime.call("mcp_fs_echo", json!({ "text": "hello" })).context(context);
    assert!(call.await.ok());
    drop(listening);
    let lines = recorder.lines("context=agent-7");
    assert!(lines.lines().any(|line| line.starts_with("CLOSED call{")), "{lines}");
    assert!(!lines.contains("research"), "the label is for people: {lines}");
    runtime.shutdown().await;
}
