//! How much servers log is up to the host, and stays so when they come back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::Response;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::protocol::view::LogLevel;
use wharf::{Event, Runtime, Status};
use wharf_testkit::actor::{Diary, Script};

use super::world::{LIMIT, World, call, kill, until};

fn world(script: &Script) -> (World, Diary) {
    let mut world = World::new();
    let diary = world.actor("fs", script, json!({}));
    (world, diary)
}

/// Ends the server, and waits until it is there again.
async fn lose(runtime: &Runtime, diary: &Diary) {
    let before = diary.starts();
    kill(*before.last().unwrap());
    until(runtime, "it is back", |it| {
        it.server("fs").unwrap().status == Status::Connected && diary.starts().len() > before.len()
    })
    .await;
}

#[tokio::test]
async fn a_legacy_server_is_told_again_after_it_was_lost() {
    let (world, diary) = world(&Script::with_tools(["do"]));
    let runtime = world.start();
    runtime.ready().await;
    runtime.set_log_level("fs", LogLevel::Warning).await.unwrap();
    assert_eq!(diary.levels(), ["warning"]);
    lose(&runtime, &diary).await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(diary.levels(), ["warning", "warning"]);
    runtime.set_log_level("fs", LogLevel::Debug).await.unwrap();
    runtime.connect("fs").await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(diary.levels(), ["warning", "warning", "debug", "debug"]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_modern_server_is_told_with_every_call() {
    let (world, diary) = world(&Script { modern: true, ..Script::with_tools(["do"]) });
    let runtime = world.start();
    runtime.ready().await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.set_log_level("fs", LogLevel::Warning).await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    lose(&runtime, &diary).await;
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.set_log_level("fs", LogLevel::Debug).await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    let metas = diary.metas();
    let told: Vec<&Value> =
        metas.iter().map(|meta| &meta["io.modelcontextprotocol/logLevel"]).collect();
    assert_eq!(json!(told), json!([null, "warning", "warning", "debug"]));
    assert!(!diary.asked().iter().any(|asked| asked == "logging/setLevel"));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_without_a_log_is_not_asked_for_one() {
    for modern in [false, true] {
        let (world, diary) = world(&Script { modern, mute: true, ..Script::with_tools(["do"]) });
        let runtime = world.start();
        runtime.ready().await;
        let error = runtime.set_log_level("fs", LogLevel::Warning).await.unwrap_err();
        assert_eq!(error.message, "cannot be sent: the server has no log");
        runtime.connect("fs").await.unwrap();
        call(&runtime, "mcp_fs_do", json!({})).await;
        assert_eq!(diary.metas()[0]["io.modelcontextprotocol/logLevel"], Value::Null);
        assert!(!diary.asked().iter().any(|asked| asked == "logging/setLevel"));
        runtime.shutdown().await;
    }
    let runtime = World::new().start();
    assert!(runtime.set_log_level("nobody", LogLevel::Info).await.is_err());
    runtime.shutdown().await;
}

#[tokio::test]
async fn who_gives_up_before_the_server_was_told_leaves_everything_as_it_was() {
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["do"]), json!({ "lazy": true }));
    let runtime = world.start();
    // It has to be started first, so this takes a while.
    let telling = runtime.set_log_level("fs", LogLevel::Warning);
    assert!(tokio::time::timeout(Duration::ZERO, telling).await.is_err());
    call(&runtime, "mcp_fs_do", json!({})).await;
    runtime.connect("fs").await.unwrap();
    call(&runtime, "mcp_fs_do", json!({})).await;
    assert_eq!(diary.starts().len(), 2);
    assert_eq!(diary.levels(), Vec::<String>::new());
    runtime.shutdown().await;
}

#[tokio::test]
async fn what_is_serious_enough_arrives_as_an_event() {
    let mut world = World::new();
    world.server(
        "sample",
        json!({ "command": env!("CARGO_BIN_EXE_wharf-sample"),
        "approval": "never" }),
    );
    let runtime = world.start();
    runtime.ready().await;
    let mut events = runtime.events();
    call(&runtime, "mcp_sample_log", json!({})).await;
    runtime.set_log_level("sample", LogLevel::Error).await.unwrap();
    call(&runtime, "mcp_sample_log", json!({})).await;
    runtime.set_log_level("sample", LogLevel::Debug).await.unwrap();
    call(&runtime, "mcp_sample_log", json!({})).await;
    let mut told = Vec::new();
    let hearing = async {
        while told.len() < 3 {
            if let Event::Log { level, text, .. } = events.next().await.unwrap() {
                told.push(format!("{level:?}: {text}"));
            }
        }
    };
    tokio::time::timeout(LIMIT, hearing).await.expect("all is told");
    assert_snapshot!(told.join("\n"), @"
    Error: error
    Debug: debug
    Error: error
    ");
    runtime.shutdown().await;
}

/// A legacy server over HTTP that forgets its session at the first call, and writes down how much
/// each session was told to log.
#[derive(Default)]
struct Forgetful {
    sessions: usize,
    calls: usize,
    levels: Vec<String>,
}

impl Forgetful {
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
async fn a_remote_server_that_forgot_its_session_is_told_again() {
    let server = Arc::new(Mutex::new(Forgetful::default()));
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
    let mut world = World::new();
    world.server("web", json!({ "url": url, "approval": "never" }));
    let runtime = world.start();
    runtime.ready().await;
    runtime.set_log_level("web", LogLevel::Error).await.unwrap();
    assert_eq!(call(&runtime, "mcp_web_do", json!({})).await, "done");
    let told = async {
        while server.lock().unwrap().levels.len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, told).await.expect("the new session is told");
    assert_eq!(server.lock().unwrap().levels, ["s1 error", "s2 error"]);
    runtime.shutdown().await;
}
