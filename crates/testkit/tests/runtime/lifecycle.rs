//! Tests the life cycle of servers: connect, fail, reconnect, shut down.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::json;
use wharf::config::{Env, Platform};
use wharf::{Options, StartupMode, Status, discover_and_load_mcp_tools};
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, LIMIT, call, kill, render, tools, until};

fn echo() -> Script {
    Script::with_tools(["echo"])
}

#[tokio::test]
async fn failed_discovery_is_one_error_and_no_tools() {
    let folder = tempfile::tempdir().unwrap();
    let env = Env::new(Platform::HOST, folder.path()).with_home(folder.path());
    let not_json = env.clone().with_variable("WHARF_MCP_SERVERS", "{");
    let nowhere = folder.path().join("nowhere");
    for (env, cwd) in [(not_json, folder.path()), (env, nowhere.as_path())] {
        let loaded = discover_and_load_mcp_tools(cwd, Options::new(env)).await;
        assert!(loaded.tools.is_empty() && loaded.runtime.is_none());
        let paths: Vec<_> = loaded.errors.iter().map(|error| error.path.as_str()).collect();
        assert_eq!(paths, [".mcp.json"]);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_loading_error_has_a_kind_a_hint_and_the_error_output() {
    let mut fixture = Fixture::new();
    let script = "echo 'starting' >&2; echo 'Error: no licence' >&2; read -r line; exit 3";
    fixture.server("broken", json!({ "command": "/bin/sh", "args": ["-c", script] }));
    let folder = fixture.path("project");
    let loaded = discover_and_load_mcp_tools(&folder, fixture.options()).await;
    let [error] = &loaded.errors[..] else { panic!("{:?}", loaded.errors) };
    assert_eq!(error.path, "mcp:broken");
    assert_eq!(error.kind, Some(wharf::FailureKind::Connect));
    assert!(error.error.ends_with("; stderr: Error: no licence"), "{}", error.error);
    assert_eq!(error.hint.as_deref(), Some("its error output says why"));
    assert_eq!(error.stderr, "starting\nError: no licence\n");
    loaded.runtime.unwrap().shutdown().await;
}

#[tokio::test]
async fn an_invalid_definition_affects_only_its_server() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({}));
    fixture.server("broken", json!({ "command": "x", "url": "http://127.0.0.1:1/" }));
    let loaded = discover_and_load_mcp_tools(&fixture.path("project"), fixture.options()).await;
    let errors: Vec<_> =
        loaded.errors.iter().map(|error| format!("{}: {}", error.path, error.error)).collect();
    assert_eq!(errors, [r#"mcp:broken: both "command" and "url" are set"#]);
    assert_eq!(
        loaded.tools.iter().map(|tool| tool.path()).collect::<Vec<_>>(),
        ["mcp:fs via Wharf"]
    );
    loaded.runtime.unwrap().shutdown().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_fails_alone() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({}));
    let silent = Script { hello_delay_ms: 60_000, stderr: "loading".into(), ..echo() };
    fixture.actor("silent", &silent, json!({ "connectTimeout": 300 }));
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    assert_snapshot!(render(&snapshot), @"
    fs connected 1
    silent failed 0: the server did not answer within 300ms; stderr: loading
    ");
    let failure = snapshot.server("silent").unwrap().failure.clone().unwrap();
    assert_eq!(failure.stderr, "loading\n");
    assert_snapshot!(failure.hint.as_deref().unwrap(), @"raise `timeout` in its entry if it needs longer to start");
    runtime.shutdown().await;
}

#[tokio::test]
async fn programs_that_are_missing_or_exit_are_reported_with_the_reason() {
    let mut fixture = Fixture::new();
    fixture.server("gone", json!({ "command": "no-such-program-anywhere" }));
    let dying = Script { exit: Some(3), stderr: "no licence".into(), ..echo() };
    fixture.actor("dying", &dying, json!({}));
    let listless = Script { list_error: Some("the list is lost".into()), ..echo() };
    fixture.actor("listless", &listless, json!({}));
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    assert_snapshot!(render(&snapshot), @"
    dying failed 0: the server's process ended (exit status: 3); stderr: no licence
    gone failed 0: no-such-program-anywhere not found
    listless failed 0: could not list its tools: the server answered: the list is lost (code -32603)
    ");
    let failure = snapshot.server("dying").unwrap().failure.clone().unwrap();
    assert_eq!(failure.stderr, "no licence\n");
    runtime.shutdown().await;
}

#[tokio::test]
async fn cached_tools_are_listed_before_a_slow_server_connects_and_a_call_waits() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("slow", &echo(), json!({}));
    fixture.warm().await;
    Script { list_delay_ms: 1_500, ..echo() }.write(actor_log.folder());
    let began = Instant::now();
    let runtime = fixture.start();
    assert_snapshot!(tools(&runtime.snapshot()), @"mcp_slow_echo Cached");
    let snapshot = runtime.ready().await;
    assert!(began.elapsed() < Duration::from_millis(1_200), "{:?}", began.elapsed());
    assert_snapshot!(render(&snapshot), @"slow connecting 1");
    assert_eq!(call(&runtime, "mcp_slow_echo", json!({ "text": "hello" })).await, "hello");
    assert_snapshot!(tools(&runtime.snapshot()), @"mcp_slow_echo Live");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_without_a_cache_is_waited_for_or_joins_later() {
    let mut fixture = Fixture::new();
    fixture.gate = Duration::from_millis(50);
    fixture.actor("slow", &Script { list_delay_ms: 400, ..echo() }, json!({}));
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.ready().await), @"slow connected 1");
    runtime.shutdown().await;

    let mut fixture = Fixture::new();
    fixture.gate = Duration::from_millis(50);
    fixture.mode = StartupMode::Background;
    fixture.actor("slow", &Script { list_delay_ms: 400, ..echo() }, json!({}));
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.ready().await), @"slow connecting 0");
    until(&runtime, "slow joins", |it| it.registry().tools().len() == 1).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_late_failure_is_an_event_and_its_cached_tools_stay() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("slow", &echo(), json!({ "connectTimeout": 700 }));
    fixture.warm().await;
    Script { list_delay_ms: 60_000, ..echo() }.write(actor_log.folder());
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.ready().await), @"slow connecting 1");
    let snapshot =
        until(&runtime, "slow fails", |it| it.server("slow").unwrap().status == Status::Failed)
            .await;
    assert_snapshot!(render(&snapshot), @"slow failed 1: could not list its tools: no answer within 700ms");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_is_reconnected_and_keeps_its_tools_meanwhile() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    kill(actor_log.starts()[0]);
    let snapshot = until(&runtime, "the loss is noticed", |it| {
        it.server("fs").unwrap().status != Status::Connected
    })
    .await;
    assert_eq!(snapshot.server("fs").unwrap().status, Status::Reconnecting);
    assert_eq!(snapshot.registry().tools().len(), 1);
    assert_eq!(call(&runtime, "mcp_fs_echo", json!({ "text": "again" })).await, "again");
    assert_eq!(actor_log.starts().len(), 2);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_stopped_until_a_person_reconnects_it() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    for _ in 0..8 {
        call(&runtime, "mcp_fs_echo", json!({ "die": "after-read" })).await;
    }
    assert_eq!(actor_log.starts().len(), 5);
    assert_snapshot!(render(&runtime.snapshot()), @"fs failed 1: it was started 5 times within 30 s");
    let refused = call(&runtime, "mcp_fs_echo", json!({})).await;
    assert_snapshot!(refused, @r#"TERMINAL Connect known=true failed to connect to "fs": it was started 5 times within 30 s"#);
    runtime.connect("fs").await.unwrap();
    assert_eq!(call(&runtime, "mcp_fs_echo", json!({ "text": "well" })).await, "well");
    runtime.shutdown().await;
}

#[tokio::test]
async fn many_waiting_calls_do_not_exhaust_the_starts_of_a_broken_server() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({ "callTimeout": 3000 }));
    let runtime = fixture.start();
    runtime.ready().await;
    Script { exit: Some(1), ..echo() }.write(actor_log.folder());
    kill(actor_log.starts()[0]);
    until(&runtime, "the loss is noticed", |it| {
        it.server("fs").unwrap().status != Status::Connected
    })
    .await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let runtime = runtime.clone();
        calls.spawn(async move { call(&runtime, "mcp_fs_echo", json!({})).await });
    }
    while let Some(said) = calls.join_next().await {
        assert!(said.unwrap().contains("known=true"));
    }
    let starts = actor_log.starts().len();
    assert!(starts <= 4, "{starts} starts within three seconds");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_lazy_server_starts_with_its_first_call() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({}));
    fixture.warm().await;
    fixture.change("fs", "lazy", json!(true));
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.ready().await), @"fs disconnected 1");
    assert_eq!(actor_log.starts().len(), 1, "only the first run started it");
    assert_eq!(call(&runtime, "mcp_fs_echo", json!({ "text": "now" })).await, "now");
    assert_eq!(actor_log.starts().len(), 2);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_missing_required_server_is_named() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({ "required": true }));
    fixture.actor("bad", &Script { exit: Some(1), ..echo() }, json!({ "required": true }));
    fixture.actor("other", &Script { exit: Some(1), ..echo() }, json!({}));
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    let missing: Vec<_> =
        snapshot.missing_required().map(|server| server.name.to_string()).collect();
    assert_eq!(missing, ["bad"]);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_hundred_cached_servers_are_in_the_first_snapshot() {
    let mut fixture = Fixture::new();
    let mut actor_logs = Vec::new();
    for number in 0..100 {
        let script = Script::with_tools(["one", "two"]);
        // Letters, because tool names keep no digits.
        let name: String =
            format!("{number:03}").chars().map(|c| ((c as u8) + 49) as char).collect();
        actor_logs.push(fixture.actor(&name, &script, json!({})));
    }
    fixture.warm().await;
    for actor_log in &actor_logs {
        Script { hello_delay_ms: 60_000, ..Script::default() }.write(actor_log.folder());
    }
    let runtime = fixture.start();
    assert_eq!(runtime.snapshot().registry().tools().len(), 200);
    let began = Instant::now();
    assert_eq!(runtime.ready().await.registry().tools().len(), 200);
    assert!(began.elapsed() < LIMIT / 3);
    runtime.shutdown().await;
}

#[tokio::test]
async fn nothing_is_left_after_a_shutdown_nor_after_a_drop() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    runtime.shutdown().await;
    assert!(!actor_log.is_alive(actor_log.starts()[0]));
    assert_eq!(runtime.snapshot().registry().tools().len(), 0);
    let after = call(&runtime, "mcp_fs_echo", json!({})).await;
    assert_eq!(after, "TERMINAL Connect known=true the runtime was shut down");

    let runtime = fixture.start();
    runtime.ready().await;
    drop(runtime);
    let gone = async {
        while actor_log.is_alive(actor_log.starts()[1]) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("the process ends");
}

#[tokio::test]
async fn event_streams_end_while_a_snapshot_is_still_held() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &echo(), json!({}));
    let runtime = fixture.start();
    let mut events = runtime.events();
    let snapshot = runtime.ready().await;
    runtime.shutdown().await;
    let rest = async {
        let mut last = None;
        while let Some(event) = events.next().await {
            if let wharf::Event::Status { status, .. } = event {
                last = Some(status);
            }
        }
        last
    };
    let last = tokio::time::timeout(LIMIT, rest).await.expect("the events end");
    assert_eq!(last, Some(Status::Disconnected), "the last status is delivered");
    assert!(runtime.events().next().await.is_none(), "a later subscriber gets no events");
    drop(snapshot);

    // The same holds without an orderly shutdown.
    let runtime = fixture.start();
    let mut events = runtime.events();
    let snapshot = runtime.ready().await;
    drop(runtime);
    let rest = async { while events.next().await.is_some() {} };
    tokio::time::timeout(LIMIT, rest).await.expect("the events end");
    drop(snapshot);
}
