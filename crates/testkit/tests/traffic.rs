//! Tests recorded sessions between our client and our server core: every message is valid for the
//! schema of its revision, in all five revisions.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "peers/handler.rs"]
mod handler;
#[path = "traffic/session.rs"]
mod session;

use serde_json::Value;
use wharf_protocol::era::Revision;
use wharf_testkit::schema::{Schema, Sender, TrafficChecker};

/// Methods that the recorded sessions do not use: tasks and URL elicitation.
const UNUSED: &[&str] = &[
    "tasks/get",
    "tasks/result",
    "tasks/cancel",
    "tasks/list",
    "notifications/tasks/status",
    "notifications/elicitation/complete",
];

/// Methods that both sides may use, but only one does here: the server reports progress, the
/// client cancels.
const UNUSED_BY_CLIENTS: &[&str] = &["notifications/progress"];
const UNUSED_BY_SERVERS: &[&str] = &["notifications/cancelled", "ping"];

/// Returns the violations in a session; an unknown method is one, too.
fn violations(revision: Revision, lines: &[(Sender, String)]) -> Vec<String> {
    let mut traffic = TrafficChecker::new(revision);
    let mut found = Vec::new();
    for (sender, line) in lines {
        // The test requests an unknown method on purpose.
        if line.contains(r#""method":"harbour/unknown""#) {
            continue;
        }
        if let Err(violation) = traffic.check(*sender, line) {
            found.push(format!("{sender:?} {line}: {violation}"));
        }
        let message = serde_json::from_str(line).unwrap_or_default();
        for surplus in traffic.schema().unknown_members(*sender, &message) {
            found.push(format!("{sender:?} {line}: {surplus} is unknown"));
        }
    }
    found
}

/// Returns the methods that a side could have used and did not.
fn unused(revision: Revision, sender: Sender, lines: &[(Sender, String)]) -> Vec<String> {
    let used: Vec<String> = lines
        .iter()
        .filter(|(by, _)| *by == sender)
        .filter_map(|(_, line)| {
            let message: Value = serde_json::from_str(line).ok()?;
            Some(message.get("method")?.as_str()?.to_owned())
        })
        .collect();
    let excused = match sender {
        Sender::Client => UNUSED_BY_CLIENTS,
        Sender::Server => UNUSED_BY_SERVERS,
    };
    let schema = Schema::of(revision);
    let kinds = ["Request", "Notification"];
    let known = kinds.iter().flat_map(|kind| schema.methods(sender, kind));
    known
        .filter(|method| !UNUSED.contains(method) && !excused.contains(method))
        .filter(|method| !used.iter().any(|used| used == method))
        .map(ToOwned::to_owned)
        .collect()
}

async fn check(revision: Revision) {
    let lines = session::recorded(revision).await;
    let found = violations(revision, &lines);
    assert!(found.is_empty(), "{revision}:\n{}", found.join("\n"));
    for sender in [Sender::Client, Sender::Server] {
        assert_eq!(unused(revision, sender, &lines), [""; 0], "{revision} {sender:?}");
    }
}

#[tokio::test]
async fn a_session_of_2024_11_05_passes_its_schema() {
    check(Revision::V2024_11_05).await;
}

#[tokio::test]
async fn a_session_of_2025_03_26_passes_its_schema() {
    check(Revision::V2025_03_26).await;
}

#[tokio::test]
async fn a_session_of_2025_06_18_passes_its_schema() {
    check(Revision::V2025_06_18).await;
}

#[tokio::test]
async fn a_session_of_2025_11_25_passes_its_schema() {
    check(Revision::V2025_11_25).await;
}

#[tokio::test]
async fn a_session_of_2026_07_28_passes_its_schema() {
    check(Revision::V2026_07_28).await;
}

#[test]
fn a_message_that_breaks_a_rule_is_found() {
    let line = |sender, text: &str| (sender, text.to_owned());
    let asked = line(Sender::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let check = |revision, lines: &[(Sender, String)], count| {
        assert_eq!(violations(revision, lines).len(), count, "{lines:?}");
    };
    let fine = line(Sender::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    check(Revision::V2025_06_18, &[asked.clone(), fine.clone()], 0);
    // Since 2026-07-28 each request needs `_meta`, and each result a `resultType`.
    check(Revision::V2026_07_28, &[asked.clone(), fine], 2);
    let nameless = line(Sender::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{}]}}"#);
    check(Revision::V2025_06_18, &[asked, nameless], 1);
    let surplus =
        line(Sender::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":1}}"#);
    check(Revision::V2024_11_05, &[surplus], 1);
    check(Revision::V2024_11_05, &[line(Sender::Server, "ahoy")], 1);
}
