//! A call never runs twice, wherever its server dies, and the error says what is known.

use std::collections::BTreeMap;

use serde_json::json;
use wharf_testkit::actor::Script;
use wharf_testkit::chance::Chance;

use super::world::{World, call, kill};

#[tokio::test]
async fn the_error_says_whether_the_outcome_is_known() {
    let cases = [
        // Where the server dies, whether the effect happened.
        ("after-read", false),
        ("after-effect", true),
        ("mid-reply", true),
    ];
    for (point, happened) in cases {
        let mut world = World::new();
        let diary = world.actor("fs", &Script::with_tools(["do"]), json!({}));
        let runtime = world.start();
        runtime.ready().await;
        let said = call(&runtime, "mcp_fs_do", json!({ "die": point, "text": "x" })).await;
        assert!(said.starts_with("TERMINAL Lost known=false"), "{point}: {said}");
        assert_eq!(diary.effects().len(), usize::from(happened), "{point}");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_call_that_was_never_read_is_sent_to_the_next_process() {
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["do"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    // The server is gone before the call is written, and nobody has noticed yet.
    kill(diary.starts()[0]);
    let said = call(&runtime, "mcp_fs_do", json!({ "text": "x" })).await;
    assert!(diary.effects().len() <= 1);
    assert!(said == "x" || said.contains("known=false"), "{said}");
    assert_eq!(said == "x", diary.effects().len() == 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_may_be_repeated_is_repeated_when_its_owner_says_so() {
    let tool = json!({
        "name": "read",
        "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true },
    });
    let script = Script { definitions: vec![tool], ..Script::default() };
    for (retry, runs) in [(json!({}), 1), (json!({ "retry": "hints" }), 3)] {
        let mut world = World::new();
        let diary = world.actor("fs", &script, retry);
        world.warm().await;
        let runtime = world.start();
        runtime.settled().await;
        let said = call(&runtime, "mcp_fs_read", json!({ "die": "after-effect" })).await;
        assert!(said.starts_with("TERMINAL Lost"), "{said}");
        assert_eq!(diary.effects().len(), runs);
        runtime.shutdown().await;
    }
}

/// Thousands of calls, most of which kill their server somewhere, some from outside at any time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whenever_its_server_dies() {
    let rounds = 2_000;
    let mut chance = Chance::new(1);
    let mut world = World::new();
    let diary = world.actor("fs", &Script::with_tools(["do"]), json!({}));
    let runtime = world.start();
    runtime.ready().await;
    let points = ["", "", "after-read", "after-effect", "mid-reply", "after-reply", "kill"];
    let mut said = BTreeMap::new();
    for round in 0..rounds {
        let point = *chance.of(&points);
        let text = format!("call {round}");
        let victim = diary.starts().last().copied();
        let calling = call(&runtime, "mcp_fs_do", json!({ "die": point, "text": text }));
        let outcome = match (point, victim) {
            ("kill", Some(victim)) => {
                let spins = chance.below(200);
                let killing = async {
                    for _ in 0..spins {
                        tokio::task::yield_now().await;
                    }
                    kill(victim);
                };
                tokio::join!(calling, killing).0
            }
            _ => calling.await,
        };
        if outcome.contains("more than five times") {
            // The breaker did its work; a person brings the server back.
            runtime.connect("fs").await.unwrap();
        }
        said.insert(text, outcome);
    }
    runtime.shutdown().await;
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    for effect in diary.effects() {
        *ran.entry(effect).or_default() += 1;
    }
    for (text, outcome) in &said {
        let runs = ran.get(text).copied().unwrap_or_default();
        assert!(runs <= 1, "{text} ran {runs} times: {outcome}");
        if outcome.contains("known=true") {
            assert_eq!(runs, 0, "{text}: {outcome}");
        }
        if outcome == text {
            assert_eq!(runs, 1, "{text} was answered but never ran");
        }
    }
    assert!(diary.starts().len() > rounds / 4, "the servers were hardly ever killed");
}
