//! How much servers log is up to the host, and stays so when they come back.

use insta::assert_snapshot;
use serde_json::{Value, json};
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
