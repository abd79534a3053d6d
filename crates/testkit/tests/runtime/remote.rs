//! Tests HTTP servers: tokens, authorization, and reconnecting after an outage.

use std::net::SocketAddr;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::config::{Credentials, Secret};
use wharf::{FailureKind, Status};
use wharf_protocol::serve::{BearerToken, HttpServerOptions, McpServer};
use wharf_testkit::server::SampleService;

use super::fixture::{Fixture, call, render, until};

/// An HTTP server on its own port, with a token if one is given. It ends when dropped.
struct RemoteServer {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl RemoteServer {
    async fn start(token: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, token)
    }

    fn on(listener: TcpListener, token: Option<&str>) -> Self {
        let address = listener.local_addr().unwrap();
        let token = token.map(BearerToken::new);
        let options = HttpServerOptions { token, ..HttpServerOptions::default() };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let server = McpServer::new(SampleService::default());
            server.serve_http(listener, options).await.unwrap();
        });
        Self { address, _tasks: tasks }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

#[tokio::test]
async fn a_server_that_requires_authorization_needs_a_sign_in() {
    let remote = RemoteServer::start(Some("good")).await;
    let mut fixture = Fixture::new();
    fixture.server("closed", json!({ "url": remote.url() }));
    fixture.server(
        "wrong",
        json!({ "url": remote.url(), "headers": { "Authorization": "Bearer bad" } }),
    );
    fixture.server(
        "open",
        json!({ "url": remote.url(), "headers": { "Authorization": "Bearer good" } }),
    );
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    let told = render(&snapshot);
    assert_snapshot!(told, @"
    closed needs_auth 0: the server answered 401 Unauthorized
    open connected 9
    wrong needs_auth 0: the server answered 401 Unauthorized
    ");
    let failure = snapshot.server("closed").unwrap().failure.clone().unwrap();
    assert_eq!(failure.kind, FailureKind::NeedsAuth);
    assert_snapshot!(failure.hint.as_deref().unwrap_or_default(), @"give the server a token, or check the token in its headers");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_stored_token_goes_to_its_own_address_and_to_no_other() {
    let (remote, other) =
        (RemoteServer::start(Some("good")).await, RemoteServer::start(Some("good")).await);
    let mut fixture = Fixture::new();
    let mut credentials = Credentials::load(&fixture.env()).unwrap();
    let id = credentials.add_bearer(&remote.url(), &Secret::new("good")).unwrap();
    credentials.save().unwrap();
    let auth = json!({ "type": "bearer", "credentialId": id });
    fixture.server("own", json!({ "url": remote.url(), "auth": auth }));
    fixture.server("thief", json!({ "url": other.url(), "auth": auth }));
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    let statuses = ["own", "thief"].map(|name| snapshot.server(name).unwrap().status);
    assert_eq!(statuses, [Status::Connected, Status::NeedsAuth]);
    let problems = snapshot.server("thief").unwrap().problems();
    assert!(problems.iter().any(|problem| problem.message.contains("credential")), "{problems:?}");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_rejected_token_is_fetched_again_and_the_server_connects() {
    let remote = RemoteServer::start(Some("second")).await;
    let mut fixture = Fixture::new();
    // The first token is refused, the next one is right.
    let counter = fixture.path("counter");
    let counter_path = counter.display();
    let script = if cfg!(windows) {
        format!(
            r#"!if exist "{counter_path}" ((echo 2)> "{counter_path}" & echo Bearer second) else ((echo 1)> "{counter_path}" & echo Bearer first)"#
        )
    } else {
        format!(
            "!n=$(cat {counter_path} 2>/dev/null || echo 0); echo $((n+1)) > {counter_path}; [ $n = 0 ] && echo Bearer first || echo Bearer second"
        )
    };
    fixture.server("fresh", json!({ "url": remote.url(), "headers": { "Authorization": script } }));
    let runtime = fixture.start();
    assert_eq!(runtime.ready().await.server("fresh").unwrap().status, Status::Connected);
    assert_eq!(std::fs::read_to_string(counter).unwrap().trim(), "2");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_lost_remote_server_is_an_error_and_is_reconnected() {
    let remote = RemoteServer::start(None).await;
    let address = remote.address;
    let mut fixture = Fixture::new();
    fixture.server("far", json!({ "url": remote.url(), "approval": "never", "callTimeout": 5000 }));
    let runtime = fixture.start();
    let snapshot = runtime.ready().await;
    let tool = snapshot.registry().tools()[0].name().to_owned();
    drop(remote);
    let said = call(&runtime, &tool, json!({ "text": "x", "a": 1, "b": 2 })).await;
    assert!(!said.starts_with("MISUSE"), "{said}");
    let _remote = RemoteServer::on(TcpListener::bind(address).await.unwrap(), None);
    let back = async {
        loop {
            let said = call(&runtime, &tool, json!({ "text": "x", "a": 1, "b": 2 })).await;
            if !said.contains("known=") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.expect("it is reconnected");
    until(&runtime, "connected again", |it| it.server("far").unwrap().status == Status::Connected)
        .await;
    runtime.shutdown().await;
}
