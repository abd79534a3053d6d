//! Tests that the log level set by the host is kept when servers reconnect.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::Response;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::protocol::view::LogLevel;
use wharf::{Event, Runtime, Status};
use wharf_testkit::actor::{ActorLog, Script};

use super::fixture::{Fixture, LIMIT, call, kill, until};

fn fixture(script: &Script) -> (Fixture, ActorLog) {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", script, json!({}));
    (fixture, actor_log)
}

/// Kills the server, and waits until it is connected again.
async fn lose(runtime: &Runtime, actor_log: &ActorLog) {
    let before = actor_log.starts();
    kill(*before.last().unwrap());
    until(runtime, "it is reconnected", |it| {
        it.server("fs").unwrap().status == Status::Connected
            && actor_log.starts().len() > before.len()
    })
    .await;
}

#[tokio::test]
async fn the_log_level_is_set_again_after_a_legacy_server_was_lost() {
    let (fixture, actor_log) = fixture(&Script::with_tools(["do"]));
    let runtime = fixture.start();
    runtime.ready().await;
    runtime.set_log_level("fs", LogLevel::Warning).await.unwrap();
    assert_eq!(actor_log.log_levels(), ["warning"]);
    lose(&runtime, &actor_log).await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(actor_log.log_levels(), ["warning", "warning"]);
    runtime.set_log_level("fs", LogLevel::Debug).await.unwrap();
    runtime.connect("fs").await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(actor_log.log_levels(), ["warning", "warning", "debug", "debug"]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_log_level_is_sent_with_every_call_to_a_modern_server() {
    let (fixture, actor_log) = fixture(&Script { modern: true, ..Script::with_tools(["do"]) });
    let runtime = fixture.start();
    runtime.ready().await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.set_log_level("fs", LogLevel::Warning).await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    lose(&runtime, &actor_log).await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.set_log_level("fs", LogLevel::Debug).await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    let metas = actor_log.metas();
    let messages: Vec<&Value> =
        metas.iter().map(|meta| &meta["io.modelcontextprotocol/logLevel"]).collect();
    assert_eq!(json!(messages), json!([null, "warning", "warning", "debug"]));
    assert!(!actor_log.request_methods().iter().any(|asked| asked == "logging/setLevel"));
    runtime.shutdown().await;
}

#[tokio::test]
async fn no_log_level_is_sent_to_a_server_without_logging() {
    for modern in [false, true] {
        let (fixture, actor_log) =
            fixture(&Script { modern, mute: true, ..Script::with_tools(["do"]) });
        let runtime = fixture.start();
        runtime.ready().await;
        let error = runtime.set_log_level("fs", LogLevel::Warning).await.unwrap_err();
        assert_eq!(
            error.message,
            "the request cannot be sent: the server does not support logging"
        );
        runtime.connect("fs").await.unwrap();
        call(&runtime, "mcp_fs_do", json!({})).await;
        assert_eq!(actor_log.metas()[0]["io.modelcontextprotocol/logLevel"], Value::Null);
        assert!(!actor_log.request_methods().iter().any(|asked| asked == "logging/setLevel"));
        runtime.shutdown().await;
    }
    let runtime = Fixture::new().start();
    assert!(runtime.set_log_level("nobody", LogLevel::Info).await.is_err());
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_change_of_the_log_level_has_no_effect() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &Script::with_tools(["do"]), json!({ "lazy": true }));
    let runtime = fixture.start();
    // The server must be started first, so this takes a while.
    let telling = runtime.set_log_level("fs", LogLevel::Warning);
    assert!(tokio::time::timeout(Duration::ZERO, telling).await.is_err());
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.connect("fs").await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(actor_log.starts().len(), 2);
    assert_eq!(actor_log.log_levels(), Vec::<String>::new());
    runtime.shutdown().await;
}

#[tokio::test]
async fn messages_of_the_log_level_and_above_arrive_as_events() {
    let mut fixture = Fixture::new();
    fixture.server(
        "sample",
        json!({ "command": env!("CARGO_BIN_EXE_wharf-sample"),
        "approval": "never" }),
    );
    let runtime = fixture.start();
    runtime.ready().await;
    let mut events = runtime.events();
    call(&runtime, "mcp_sample_log", json!({})).await;
    runtime.set_log_level("sample", LogLevel::Error).await.unwrap();
    call(&runtime, "mcp_sample_log", json!({})).await;
    runtime.set_log_level("sample", LogLevel::Debug).await.unwrap();
    call(&runtime, "mcp_sample_log", json!({})).await;
    let mut messages = Vec::new();
    let receiving = async {
        while messages.len() < 3 {
            if let Event::Log { level, text, .. } = events.next().await.unwrap() {
                messages.push(format!("{level:?}: {text}"));
            }
        }
    };
    tokio::time::timeout(LIMIT, receiving).await.expect("all messages arrive");
    assert_snapshot!(messages.join("\n"), @"
    Error: error
    Debug: debug
    Error: error
    ");
    runtime.shutdown().await;
}

/// A legacy HTTP server that loses its session at the first call, and records the log level of
/// each session.
#[derive(Default)]
struct ForgetfulServer {
    sessions: usize,
    calls: usize,
    levels: Vec<String>,
}

impl ForgetfulServer {
    fn answer(&mut self, asked: &Value) -> Response<String> {
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                self.sessions += 1;
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": {}, "logging": {} },
                    "serverInfo": { "name": "forgetful", "version": "1" },
                })
            }
            "tools/list" => {
                json!({ "tools": [{ "name": "do", "inputSchema": { "type": "object" } }] })
            }
            "tools/call" => {
                self.calls += 1;
                if self.calls == 1 {
                    return Response::builder().status(404).body(String::new()).unwrap();
                }
                json!({ "content": [{ "type": "text", "text": "done" }] })
            }
            "logging/setLevel" => {
                let level = asked["params"]["level"].as_str().unwrap_or_default();
                self.levels.push(format!("s{} {level}", self.sessions));
                json!({})
            }
            "notifications/initialized" => {
                return Response::builder().status(202).body(String::new()).unwrap();
            }
            _ => return Response::builder().status(405).body(String::new()).unwrap(),
        };
        let body = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        let answer = Response::builder().header("content-type", "application/json");
        let answer = answer.header("mcp-session-id", format!("s{}", self.sessions));
        answer.body(body.to_string()).unwrap()
    }
}

#[tokio::test]
async fn the_log_level_is_set_again_after_an_http_session_was_lost() {
    let server = Arc::new(Mutex::new(ForgetfulServer::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answering = Arc::clone(&server);
    let router = axum::Router::new().fallback(move |body: String| {
        let asked = serde_json::from_str(&body).unwrap_or_default();
        let answer = answering.lock().unwrap().answer(&asked);
        async move { answer }
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let mut fixture = Fixture::new();
    fixture.server("web", json!({ "url": url, "approval": "never" }));
    let runtime = fixture.start();
    runtime.ready().await;
    runtime.set_log_level("web", LogLevel::Error).await.unwrap();
    assert_eq!(call(&runtime, "mcp_web_do", json!({})).await, "done");
    let messages = async {
        while server.lock().unwrap().levels.len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, messages).await.expect("the new session gets the level");
    assert_eq!(server.lock().unwrap().levels, ["s1 error", "s2 error"]);
    runtime.shutdown().await;
}
