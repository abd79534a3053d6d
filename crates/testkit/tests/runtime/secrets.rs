//! Tests that the secrets of a server are redacted in its errors and logs, even if it repeats
//! them.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::Event;
use wharf::protocol::envelope::RpcError;
use wharf_protocol::serve::{
    Client, DescriptionFuture, HttpServerOptions, McpServer, ServerDescription, ServerInfo,
    Service, ServiceAnswer, ServiceCall,
};
use wharf_testkit::actor::Script;

use super::fixture::{Fixture, LIMIT, call, render};

const SECRET: &str = "tiger-4711";

#[tokio::test]
async fn an_error_of_a_server_does_not_repeat_its_secrets() {
    let mut fixture = Fixture::new();
    let says = || Some(format!("the key {SECRET} is not known, Bearer {SECRET} neither"));
    let entry = json!({ "env": { "KEY": SECRET }, "connectTimeout": 5000 });
    let hello = Script { hello_error: says(), ..Script::with_tools(["do"]) };
    fixture.actor("hello", &hello, entry.clone());
    let list = Script { list_error: says(), ..Script::with_tools(["do"]) };
    fixture.actor("list", &list, entry.clone());
    fixture.actor("fs", &Script { extras: 1, ..Script::with_tools(["do"]) }, entry);
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.settled().await), @"
    fs connected 1
    hello failed 0: the server answered: the key ••• is not known, Bearer ••• neither (code -32603)
    list failed 0: could not list its tools: the server answered: the key ••• is not known, Bearer ••• neither (code -32603)
    ");
    let said = call(&runtime, "mcp_fs_do", json!({ "refuse": says() })).await;
    assert_snapshot!(said, @"TERMINAL ErrorResponse known=true the server answered: the key ••• is not known, Bearer ••• neither (code -32603)");
    // The result of a tool is not redacted, also when it is an error.
    let said = call(&runtime, "mcp_fs_do", json!({ "text": SECRET, "fail": true })).await;
    assert_eq!(said, format!("Error: {SECRET}"));
    // A message that is cut is not cut inside a secret.
    let long = format!("{}{SECRET}", "x".repeat(970));
    let said = call(&runtime, "mcp_fs_do", json!({ "refuse": long })).await;
    assert!(!said.contains("tiger"), "{said}");
    runtime.shutdown().await;
}

/// A server that answers every request with this error.
struct RefusingService(&'static str);

impl Service for RefusingService {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("refusing", "1")
    }

    fn describe(self: Arc<Self>, _: Client) -> DescriptionFuture {
        Box::pin(async { ServerDescription::new(r#"{"tools":{}}"#.parse().unwrap()) })
    }

    fn handle(self: Arc<Self>, _: ServiceCall) -> ServiceAnswer {
        Box::pin(async move { Err(RpcError::new(-1, self.0)) })
    }
}

#[tokio::test]
async fn a_remote_error_repeats_neither_headers_nor_secrets_of_the_url() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let server = McpServer::new(RefusingService(
            "no tiger-4711, no lion-4712, no bear-4713, no bear-4713-more here",
        ));
        server.serve_http(listener, HttpServerOptions::default()).await.unwrap();
    });
    let mut fixture = Fixture::new();
    let url = format!("http://me:lion-4712@{address}/mcp?key=bear-4713");
    // One header begins with the secret of the URL.
    let headers = json!({ "X-Key": format!("Bearer {SECRET}"), "X-More": "bear-4713-more" });
    fixture.server("web", json!({ "url": url, "headers": headers }));
    let runtime = fixture.start();
    assert_snapshot!(render(&*runtime.settled().await), @"web failed 0: could not list its tools: the server answered: no •••, no •••, no •••, no ••• here (code -1)");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_line_of_a_servers_log_does_not_repeat_its_secrets() {
    let mut fixture = Fixture::new();
    fixture.actor("fs", &Script::with_tools(["do"]), json!({ "env": { "KEY": SECRET } }));
    let runtime = fixture.start();
    runtime.ready().await;
    let mut events = runtime.events();
    // A line that is cut is not cut inside a secret.
    let long = "x".repeat(8 * 1024 - 2);
    for (begin, expected) in [("the key is ", "the key is •••"), (&long, &format!("{long}••"))]
    {
        call(&runtime, "mcp_fs_do", json!({ "log": format!("{begin}{SECRET}") })).await;
        let line = async {
            loop {
                if let Event::Log { text, .. } = events.next().await.unwrap() {
                    return text;
                }
            }
        };
        assert_eq!(tokio::time::timeout(LIMIT, line).await.unwrap(), expected);
    }
    runtime.shutdown().await;
}
