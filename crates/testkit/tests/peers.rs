//! Tests the client against conforming servers: our own sample and one built on `rmcp`, over stdio,
//! HTTP, a Unix socket and in this process, in both eras. Each test checks that nothing of the
//! connection is left.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "peers/connection.rs"]
mod connection;
#[path = "peers/handler.rs"]
mod handler;

use serde_json::json;
use wharf_protocol::era::Revision;

use connection::{DEADLINE, TestConnection, TestTransport};

/// Runs a check on a connection, then checks that nothing is left of it.
async fn run(
    (program, way, revision): (&str, TestTransport, Revision),
    check: impl AsyncFnOnce(&mut TestConnection),
) {
    let whole = async {
        let mut connection = TestConnection::open(program, way, revision).await;
        check(&mut connection).await;
        connection.close(program).await;
    };
    tokio::time::timeout(2 * DEADLINE, whole).await.unwrap();
}

/// Makes one test for each check, transport and era.
macro_rules! everywhere {
    ($program:path, $checks:tt) => {
        everywhere!(stdio_legacy, $program, Stdio, LATEST_LEGACY, $checks);
        everywhere!(stdio_modern, $program, Stdio, LATEST, $checks);
        everywhere!(http_legacy, $program, Http, LATEST_LEGACY, $checks);
        everywhere!(http_modern, $program, Http, LATEST, $checks);
        #[cfg(unix)]
        everywhere!(socket_legacy, $program, Socket, LATEST_LEGACY, $checks);
        #[cfg(unix)]
        everywhere!(socket_modern, $program, Socket, LATEST, $checks);
        everywhere!(memory_legacy, $program, Memory, LATEST_LEGACY, $checks);
        everywhere!(memory_modern, $program, Memory, LATEST, $checks);
    };
    ($name:ident, $program:path, $way:ident, $revision:ident, [$($check:ident),+]) => {
        mod $name {
            $(
                #[tokio::test]
                async fn $check() {
                    let revision = wharf_protocol::era::Revision::$revision;
                    crate::run(($program, crate::connection::TestTransport::$way, revision), super::$check).await;
                }
            )+
        }
    };
}

#[path = "peers/rmcp.rs"]
mod rmcp;
#[path = "peers/sample.rs"]
mod sample;

async fn tools_are_called(connection: &mut TestConnection) {
    assert_eq!(connection.call("echo", &json!({"text": "ahoy \u{1F6A2}"})).await, "ahoy \u{1F6A2}");
    assert_eq!(connection.call("add", &json!({"a": 40, "b": 2})).await, "42");
    let calls = (0..20).map(|number| {
        let connection = &*connection;
        async move { connection.call("add", &json!({"a": number, "b": 1})).await }
    });
    let sums = futures_util::future::join_all(calls).await;
    let expected: Vec<_> = (1..=20).map(|sum| sum.to_string()).collect();
    assert_eq!(sums, expected);
}
