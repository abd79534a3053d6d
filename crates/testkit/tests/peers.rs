//! Our client against servers that keep the rules: our own sample, and one built on `rmcp`, over
//! stdio and HTTP, in both eras. After each test nothing of the connection is left.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "peers/dock.rs"]
mod dock;
#[path = "peers/person.rs"]
mod person;

use serde_json::json;
use wharf_protocol::era::Revision;

use dock::{DEADLINE, Dock, Way};

/// Runs a check on a connection, then looks whether anything is left of it.
async fn run((program, way, revision): (&str, Way, Revision), check: impl AsyncFnOnce(&mut Dock)) {
    let whole = async {
        let mut dock = Dock::open(program, way, revision).await;
        check(&mut dock).await;
        dock.close(program).await;
    };
    tokio::time::timeout(2 * DEADLINE, whole).await.unwrap();
}

/// One test for each check and each way to the server.
macro_rules! everywhere {
    ($program:path, $checks:tt) => {
        everywhere!(stdio_legacy, $program, Stdio, LATEST_LEGACY, $checks);
        everywhere!(stdio_modern, $program, Stdio, LATEST, $checks);
        everywhere!(http_legacy, $program, Http, LATEST_LEGACY, $checks);
        everywhere!(http_modern, $program, Http, LATEST, $checks);
    };
    ($name:ident, $program:path, $way:ident, $revision:ident, [$($check:ident),+]) => {
        mod $name {
            $(
                #[tokio::test]
                async fn $check() {
                    let revision = wharf_protocol::era::Revision::$revision;
                    crate::run(($program, crate::dock::Way::$way, revision), super::$check).await;
                }
            )+
        }
    };
}

#[path = "peers/independent.rs"]
mod independent;
#[path = "peers/sample.rs"]
mod sample;

async fn tools_are_called(dock: &mut Dock) {
    assert_eq!(dock.call("echo", &json!({"text": "ahoy \u{1F6A2}"})).await, "ahoy \u{1F6A2}");
    assert_eq!(dock.call("add", &json!({"a": 40, "b": 2})).await, "42");
    let calls = (0..20).map(|number| {
        let dock = &*dock;
        async move { dock.call("add", &json!({"a": number, "b": 1})).await }
    });
    let sums = futures_util::future::join_all(calls).await;
    let expected: Vec<_> = (1..=20).map(|sum| sum.to_string()).collect();
    assert_eq!(sums, expected);
}
