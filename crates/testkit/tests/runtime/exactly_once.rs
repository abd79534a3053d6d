//! Tests that a call never runs twice, wherever its server dies, and that the error says whether
//! the outcome is known.

use std::collections::BTreeMap;

use serde_json::json;
use wharf::{FailureKind, Snapshot};
use wharf_testkit::actor::Script;
use wharf_testkit::quirk::http::{HttpQuirkOptions, REQUESTED_FAILURES};
use wharf_testkit::quirk::{HttpQuirkServer, QuirkEra};
use wharf_testkit::seeded_random::SeededRandom;

#[cfg(target_os = "linux")]
use super::fixture::kill_and_wait;
use super::fixture::{Fixture, call, kill};

#[tokio::test]
async fn the_error_says_whether_the_outcome_is_known() {
    let cases = [
        // Where the server dies, whether the effect happened.
        ("after-read", false),
        ("after-effect", true),
        ("mid-reply", true),
    ];
    for (point, happened) in cases {
        let mut fixture = Fixture::new();
        let actor_log = fixture.actor("fs", &Script::with_tools(["do"]), json!({}));
        let runtime = fixture.start();
        runtime.ready().await;
        let said = call(&runtime, "mcp_fs_do", json!({ "die": point, "text": "x" })).await;
        assert!(said.starts_with("TERMINAL Lost known=false"), "{point}: {said}");
        assert_eq!(actor_log.effects().len(), usize::from(happened), "{point}");
        runtime.shutdown().await;
    }
}

/// Only Linux shows that a process has closed its pipes before it is reaped.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_that_was_never_read_is_sent_to_the_next_process() {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &Script::with_tools(["do"]), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    // The server is dead before the call is written. The only thread waits here, so the runtime
    // has not noticed it yet.
    kill_and_wait(actor_log.starts()[0]);
    let said = call(&runtime, "mcp_fs_do", json!({ "text": "x" })).await;
    assert_eq!(said, "x");
    assert_eq!(actor_log.effects(), ["x"]);
    assert_eq!(actor_log.starts().len(), 2);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_repeatable_tool_is_retried_if_its_entry_allows_it() {
    let tool = json!({
        "name": "read",
        "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true },
    });
    let script = Script { definitions: vec![tool], ..Script::default() };
    for (retry, runs) in [(json!({}), 1), (json!({ "retry": "hints" }), 3)] {
        let mut fixture = Fixture::new();
        let actor_log = fixture.actor("fs", &script, retry);
        fixture.warm().await;
        let runtime = fixture.start();
        runtime.settled().await;
        let said = call(&runtime, "mcp_fs_read", json!({ "die": "after-effect" })).await;
        assert!(said.starts_with("TERMINAL Lost"), "{said}");
        assert_eq!(actor_log.effects().len(), runs);
        runtime.shutdown().await;
    }
}

/// Makes hundreds of calls to an HTTP server; most of them make it fail in a requested way.
async fn check_http(era: QuirkEra) {
    let server = HttpQuirkServer::start_with(
        "as-told",
        HttpQuirkOptions { era: Some(era), ..HttpQuirkOptions::default() },
    );
    let server = server.unwrap();
    let mut fixture = Fixture::new();
    fixture
        .server("far", json!({ "url": server.url(), "approval": "never", "callTimeout": 20_000 }));
    let runtime = fixture.start();
    runtime.ready().await;
    let mut random = SeededRandom::new(2);
    let mut said = Vec::new();
    for round in 0..600 {
        let failure = match (*random.pick(REQUESTED_FAILURES), era) {
            // The modern era has no sessions.
            ("400-session" | "session-gone", QuirkEra::Modern) => "400",
            (failure, _) => failure,
        };
        let when = match failure {
            // These responses prove that the call was not executed.
            "401" | "session-gone" => "not",
            "header-mismatch" | "version" if era == QuirkEra::Modern => "not",
            _ => *random.pick(&["ran", "not"]),
        };
        let (text, requested) = (format!("call {round}"), format!("{when} {failure}"));
        let outcome =
            call(&runtime, "mcp_far_echo", json!({ "text": text, "do": requested })).await;
        said.push((text, requested, outcome));
    }
    runtime.shutdown().await;
    let executed = server.executed();
    for (text, requested, outcome) in said {
        let runs = executed.iter().filter(|it| **it == text).count();
        let what = format!("{text}, {requested}, ran {runs} times: {outcome}");
        let (_, failure) = requested.split_once(' ').unwrap();
        assert!(runs <= 1, "{what}");
        assert!(outcome != text || runs == 1, "{what}");
        match (failure, era) {
            ("header-mismatch" | "version", QuirkEra::Modern) | ("session-gone", _) => {
                assert_eq!(outcome, text, "{what}");
            }
            ("401", _) => assert!(outcome.contains("known=true") && runs == 0, "{what}"),
            // A response with the id of the call settles its outcome.
            ("404-ours", _) | ("header-mismatch" | "version", QuirkEra::Legacy) => {
                assert!(
                    outcome.starts_with("TERMINAL") && outcome.contains("known=true"),
                    "{what}"
                );
            }
            (status, _) => {
                assert!(
                    outcome.starts_with("TERMINAL") && outcome.contains("known=false"),
                    "{what}"
                );
                let number = &status[..3];
                let is_status = number.bytes().all(|byte| byte.is_ascii_digit());
                assert!(!is_status || outcome.contains(number), "{what}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whatever_a_legacy_server_on_http_answers() {
    check_http(QuirkEra::Legacy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whatever_a_modern_server_on_http_answers() {
    check_http(QuirkEra::Modern).await;
}

/// Tells whether the server was stopped because it was started too often.
fn is_stopped(snapshot: &Snapshot) -> bool {
    let failure = snapshot.server("fs").and_then(|server| server.failure.as_ref());
    failure.is_some_and(|failure| failure.kind == FailureKind::Stopped)
}

/// Makes thousands of calls; most kill their server at some point, or it is killed at a random
/// time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whenever_its_server_dies() {
    let rounds = 2_000;
    let mut random = SeededRandom::new(1);
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &Script::with_tools(["do"]), json!({}));
    let runtime = fixture.start();
    runtime.ready().await;
    let points = ["", "", "after-read", "after-effect", "mid-reply", "after-reply", "kill"];
    let mut said = BTreeMap::new();
    for round in 0..rounds {
        let point = *random.pick(&points);
        let text = format!("call {round}");
        let victim = actor_log.starts().last().copied();
        let call = call(&runtime, "mcp_fs_do", json!({ "die": point, "text": text }));
        let outcome = match (point, victim) {
            ("kill", Some(victim)) => {
                let spins = random.below(200);
                let killing = async {
                    for _ in 0..spins {
                        tokio::task::yield_now().await;
                    }
                    kill(victim);
                };
                tokio::join!(call, killing).0
            }
            _ => call.await,
        };
        if is_stopped(&runtime.snapshot()) {
            // The start limit was reached, so the server must be reconnected by hand.
            runtime.connect("fs").await.unwrap();
        }
        said.insert(text, outcome);
    }
    runtime.shutdown().await;
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    for effect in actor_log.effects() {
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
    assert!(actor_log.starts().len() > rounds / 4, "the servers were hardly ever killed");
}
