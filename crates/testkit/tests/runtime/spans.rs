//! What an observer learns from spans and events, and what must never be in them.

use insta::assert_snapshot;
use serde_json::json;
use wharf::Status;
use wharf_testkit::actor::Script;

use super::recorder::Recorder;
use super::world::{World, call, kill, until};

fn echo() -> Script {
    Script::with_tools(["echo"])
}

#[tokio::test]
async fn the_life_of_a_server_is_told_with_its_attempts_and_its_era() {
    let mut world = World::new();
    let diary = world.actor("fs", &echo(), json!({}));
    world.actor("bad", &Script { exit: Some(3), ..echo() }, json!({}));
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let runtime = world.start();
    runtime.ready().await;
    kill(diary.starts()[0]);
    let status = |wanted| move |it: &wharf::Snapshot| it.server("fs").unwrap().status == wanted;
    until(&runtime, "the loss is noticed", status(Status::Reconnecting)).await;
    until(&runtime, "it is back", status(Status::Connected)).await;
    runtime.shutdown().await;
    drop(listening);
    let about = recorder.lines("server=fs");
    // When a life is closed does not depend on when others hear of its end.
    let (lives, others): (Vec<_>, Vec<_>) =
        about.lines().partition(|line| line.starts_with("CLOSED connection"));
    assert_snapshot!(lives.join("\n"), @"
    CLOSED connection{server=fs attempt=1 transport=stdio era=Legacy ended=lost}
    CLOSED connection{server=fs attempt=1 transport=stdio era=Legacy ended=stopped}
    ");
    assert_snapshot!(others.join("\n"), @"
    DEBUG: a server stands differently server=fs status=connecting
    INFO connection{server=fs attempt=1} connect{server=fs attempt=1 transport=stdio era=Legacy}: server started revision=2025-11-25
    CLOSED connect{server=fs attempt=1 transport=stdio era=Legacy}
    DEBUG: a server stands differently server=fs status=connected
    WARN connection{server=fs attempt=1 transport=stdio era=Legacy}: server lost server=fs
    DEBUG: a server stands differently server=fs status=reconnecting
    INFO connection{server=fs attempt=1} connect{server=fs attempt=1 transport=stdio era=Legacy}: server started revision=2025-11-25
    CLOSED connect{server=fs attempt=1 transport=stdio era=Legacy}
    DEBUG: a server stands differently server=fs status=connected
    DEBUG: a server stands differently server=fs status=disconnected
    INFO connection{server=fs attempt=1 transport=stdio era=Legacy}: server stopped server=fs
    ");
    assert_snapshot!(recorder.lines("server=bad"), @"
    DEBUG: a server stands differently server=bad status=connecting
    WARN connection{server=bad attempt=1} connect{server=bad attempt=1}: server did not start kind=Connect
    CLOSED connect{server=bad attempt=1}
    CLOSED connection{server=bad attempt=1 ended=failed}
    DEBUG: a server stands differently server=bad status=failed
    DEBUG: a server stands differently server=bad status=disconnected
    ");
}

#[tokio::test]
async fn a_call_is_told_with_its_server_tool_attempt_and_era() {
    let mut world = World::new();
    world.actor("fs", &echo(), json!({}));
    let runtime = world.start();
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
    let mut world = World::new();
    let loud = Script { stderr: "canary-stderr".into(), ..echo() };
    world.actor("fs", &loud, json!({ "env": { "KEY": "canary-env" } }));
    let failing = Script { stderr: "canary-stderr".into(), exit: Some(1), ..echo() };
    world.actor("bad", &failing, json!({ "env": { "KEY": "canary-env" } }));
    world.actor(
        "listless",
        &Script { list_error: Some("the list is lost".into()), ..echo() },
        json!({}),
    );
    let headers = json!({ "Authorization": "Bearer canary-header" });
    world.server("far", json!({ "url": "http://127.0.0.1:1/?key=canary-url", "headers": headers }));
    let recorder = Recorder::default();
    let listening = recorder.listen();
    let runtime = world.start();
    runtime.ready().await;
    for arguments in [
        json!({ "text": "canary-text" }),
        json!({ "text": "canary-text", "fail": true }),
        json!({ "text": "canary-text", "die": "after-effect" }),
    ] {
        call(&runtime, "mcp_fs_echo", arguments).await;
    }
    runtime.shutdown().await;
    drop(listening);
    assert!(recorder.lines("CLOSED connect").lines().count() >= 4, "{}", recorder.lines(""));
    assert_eq!(recorder.lines("canary"), "");
    // What a server answers is its own text.
    assert_eq!(recorder.lines("the list is lost"), "");
}
