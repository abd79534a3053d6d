//! What our client and our server core really say to each other passes the schema of its revision,
//! message by message, in whole sessions of all five revisions.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "peers/handler.rs"]
mod handler;
#[path = "traffic/session.rs"]
mod session;

use serde_json::Value;
use wharf_protocol::era::Revision;
use wharf_testkit::schema::{Schema, Sender, Traffic};

/// What a session has no occasion for: tasks, and pages to be opened.
const UNUSED: &[&str] = &[
    "tasks/get",
    "tasks/result",
    "tasks/cancel",
    "tasks/list",
    "notifications/tasks/status",
    "notifications/elicitation/complete",
];

/// Both sides may, but here only one has a reason: the server reports, the client withdraws.
const UNUSED_BY_CLIENTS: &[&str] = &["notifications/progress"];
const UNUSED_BY_SERVERS: &[&str] = &["notifications/cancelled", "ping"];

/// Returns what is wrong with a conversation; a method that no schema knows is wrong, too.
fn violations(revision: Revision, lines: &[(Sender, String)]) -> Vec<String> {
    let mut traffic = Traffic::in_revision(revision);
    let mut found = Vec::new();
    for (sender, line) in lines {
        // To ask for what does not exist is the test's own idea.
        if line.contains(r#""method":"harbour/unknown""#) {
            continue;
        }
        if let Err(violation) = traffic.check(*sender, line) {
            found.push(format!("{sender:?} {line}: {violation}"));
        }
        let message = serde_json::from_str(line).unwrap_or_default();
        for surplus in traffic.schema().surplus(*sender, &message) {
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
    // The same words are wrong where every request says who asks, and every result what it is.
    check(Revision::V2026_07_28, &[asked.clone(), fine], 2);
    let nameless = line(Sender::Server, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{}]}}"#);
    check(Revision::V2025_06_18, &[asked, nameless], 1);
    let surplus =
        line(Sender::Client, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":1}}"#);
    check(Revision::V2024_11_05, &[surplus], 1);
    check(Revision::V2024_11_05, &[line(Sender::Server, "ahoy")], 1);
}
