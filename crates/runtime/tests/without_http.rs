//! A build without the feature `http`: servers over HTTP are failed with that reason, and all
//! others are used.

#![cfg(not(feature = "http"))]
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use insta::assert_snapshot;
use wharf::config::{Env, LoadOptions, Platform, load};
use wharf::{Options, Runtime};

const SERVERS: &str = r#"{ "mcpServers": {
    "remote": { "url": "https://harbour.example/mcp?key=hunter2" },
    "older": { "type": "sse", "url": "http://harbour.example/sse" },
    "local": { "command": "wharf-no-such-program" }
} }"#;

#[tokio::test]
async fn a_server_over_http_is_failed_with_the_reason() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join(".wharf")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
    std::fs::write(home.path().join(".wharf/mcp.json"), SERVERS).unwrap();
    let env = Env::new(Platform::HOST, home.path()).with_home(home.path());
    let catalog = load(&env, LoadOptions::default()).unwrap();
    let runtime = Runtime::start(&catalog, Options::new(env));
    let snapshot = runtime.settled().await;
    let lines = snapshot.servers().map(|server| {
        let failure = server.failure.as_ref().map(|it| it.in_one_line()).unwrap_or_default();
        format!("{} {}: {failure}", server.name, server.status)
    });
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    local failed: wharf-no-such-program not found
    older failed: it is reached over HTTP, and this program was built without the feature `http`
    remote failed: it is reached over HTTP, and this program was built without the feature `http`
    ");
    runtime.shutdown().await;
}
