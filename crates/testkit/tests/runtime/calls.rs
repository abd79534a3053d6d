//! Tests calls: validation of arguments, approval, timeouts.

use std::sync::Arc;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use wharf::approval::{ApprovalAnswer, ApprovalRequest, Approver};
use wharf::protocol::Json;
use wharf::protocol::transport::BoxFuture;
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, call};

fn typed() -> Script {
    let tool = json!({
        "name": "add",
        "inputSchema": {
            "type": "object",
            "properties": { "count": { "type": "integer" } },
            "required": ["count"],
        },
    });
    Script { definitions: vec![tool], ..Script::with_tools(["do"]) }
}

#[tokio::test]
async fn invalid_arguments_never_reach_the_server() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &typed(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    assert_snapshot!(call(&runtime, "mcp_fs_add", json!({ "count": "many" })).await, @r#"MISUSE BadArguments known=true the arguments do not match the schema of the tool: "count" must be an integer, not a string"#);
    assert_snapshot!(call(&runtime, "mcp_fs_add", json!({})).await, @r#"MISUSE BadArguments known=true the arguments do not match the schema of the tool: "count" is missing"#);
    assert_snapshot!(call(&runtime, "mcp_fs_ad", json!({ "count": 1 })).await, @r#"MISUSE UnknownTool known=true there is no tool "mcp_fs_ad""#);
    assert_eq!(actor_log.effects(), Vec::<String>::new());
    assert_eq!(call(&runtime, "fs/add", json!({ "count": 1 })).await, "done");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tools_own_error_is_an_outcome() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &typed(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let arguments: Json = r#"{"fail":true,"text":"no such file"}"#.parse().unwrap();
    let outcome = runtime.call("mcp_fs_do", &arguments).await;
    assert_eq!((outcome.is_error, outcome.text.as_str()), (true, "Error: no such file"));
    assert!(outcome.error.is_none());
    assert_eq!(outcome.details.server_name, "fs");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_call_that_times_out_has_an_unknown_outcome() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &typed(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let arguments: Json = r#"{"sleepMs":60000}"#.parse().unwrap();
    let limit = Duration::from_millis(200);
    let outcome = runtime.call("mcp_fs_do", &arguments).idle_timeout(limit).await;
    let error = outcome.error.unwrap();
    assert_eq!((error.outcome_known, error.kind.word()), (false, "TERMINAL"));
    assert_snapshot!(outcome.text, @r#"
    MCP error: no answer within 200ms (server "fs", tool "do", phase receive)
    The outcome is unknown: the tool may have run. Check before calling it again.
    "#);
    runtime.shutdown().await;
}

/// Approves the calls of one tool.
struct ApproveOnly(&'static str);

impl Approver for ApproveOnly {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        let answer = if request.tool == self.0 {
            ApprovalAnswer::Yes
        } else {
            ApprovalAnswer::No { reason: Some("not today".to_owned()) }
        };
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn a_call_needs_approval_unless_its_entry_says_otherwise() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor(
        "fs",
        &typed(),
        json!({ "approval": "ask", "toolApproval": { "d*": "deny" } }),
    );
    let runtime = fixture.start();
    runtime.ready().await;
    assert_snapshot!(call(&runtime, "mcp_fs_add", json!({ "count": 1 })).await, @"TERMINAL Denied known=true the call needs approval, but no approver is available");
    assert_snapshot!(call(&runtime, "mcp_fs_do", json!({})).await, @"TERMINAL Denied known=true the settings deny this tool");
    runtime.shutdown().await;

    for (allowed, expected) in [("add", "done"), ("other", "not today")] {
        let options =
            wharf::Options { approver: Some(Arc::new(ApproveOnly(allowed))), ..fixture.options() };
        let runtime = wharf::Runtime::start(&fixture.catalog(), options);
        runtime.ready().await;
        let said = call(&runtime, "mcp_fs_add", json!({ "count": 1 })).await;
        assert!(said.contains(expected), "{said}");
        runtime.shutdown().await;
    }
    assert_eq!(actor_log.effects(), ["done"]);
}
