//! Tests subscriptions: servers of the modern era notify only subscribers about changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wharf::protocol::envelope::RpcError;
use wharf::{Event, Runtime, Status};
use wharf_protocol::serve::{
    Client, DescriptionFuture, HttpServerOptions, McpServer, ServerDescription, ServerInfo,
    Service, ServiceAnswer, ServiceCall,
};
use wharf_testkit::actor::{ActorLog, Script};

use super::fixture::{Fixture, LIMIT, call, kill, tools, until};

/// A modern server `fs` with tools, resources and prompts.
fn fixture(script: Script) -> (Fixture, ActorLog) {
    let mut fixture = Fixture::new();
    let actor_log = fixture.actor("fs", &Script { modern: true, ..script }, json!({}));
    (fixture, actor_log)
}

/// Waits until the server has received a method this many times.
async fn asked(actor_log: &ActorLog, method: &str, times: usize) {
    let waiting = async {
        while actor_log.request_methods().iter().filter(|asked| *asked == method).count() < times {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let outcome = tokio::time::timeout(LIMIT, waiting).await;
    outcome.unwrap_or_else(|_| panic!("{method} {times}: {:?}", actor_log.request_methods()));
}

#[tokio::test]
async fn a_changed_list_of_tools_arrives_through_the_subscription() {
    let (fixture, actor_log) = fixture(Script::with_tools(["one"]));
    let runtime = fixture.start();
    runtime.ready().await;
    asked(&actor_log, "subscriptions/listen", 1).await;
    call(&runtime, "mcp_fs_one", json!({ "tools": ["one", "two"] })).await;
    let snapshot = until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    assert_snapshot!(tools(&snapshot), @"
    mcp_fs_one Live
    mcp_fs_two Live
    ");
    assert_eq!(actor_log.starts().len(), 1);
    assert_eq!(
        actor_log.request_methods().iter().filter(|asked| *asked == "tools/list").count(),
        2
    );
    runtime.shutdown().await;
}

#[tokio::test]
async fn changes_in_quick_succession_are_debounced() {
    let (fixture, actor_log) = fixture(Script::with_tools(["one"]));
    let runtime = fixture.start();
    runtime.ready().await;
    asked(&actor_log, "subscriptions/listen", 1).await;
    let mut names = vec!["one".to_owned()];
    for number in 0..6_u8 {
        names.push(format!("more_{}", char::from(b'a' + number)));
        call(&runtime, "mcp_fs_one", json!({ "tools": names })).await;
    }
    until(&runtime, "all appear", |it| it.registry().tools().len() == 7).await;
    let lists = actor_log.request_methods().iter().filter(|asked| *asked == "tools/list").count();
    assert!(lists <= 4, "{lists} lists for six changes");
    runtime.shutdown().await;
}

/// Waits until both resources and prompts have changed, and returns their new counts.
async fn changes_of(runtime: &Runtime, act: impl Future<Output = ()>) -> String {
    let mut events = runtime.events();
    let told = async {
        let mut told = [false; 2];
        while told != [true; 2] {
            match events.next().await.expect("the runtime is there") {
                Event::ResourcesChanged { .. } => told[0] = true,
                Event::PromptsChanged { .. } => told[1] = true,
                _ => {}
            }
        }
    };
    let both = async { tokio::join!(act, told) };
    tokio::time::timeout(LIMIT, both).await.expect("the changes are reported");
    let many = (runtime.resources(None).await, runtime.prompts(None).await);
    format!("{} resources, {} prompts", many.0.items.len(), many.1.items.len())
}

#[tokio::test]
async fn changed_resources_and_prompts_are_reported_in_both_eras() {
    for modern in [false, true] {
        let mut fixture = Fixture::new();
        let script = Script { modern, extras: 1, ..Script::with_tools(["one"]) };
        let actor_log = fixture.actor("fs", &script, json!({}));
        let runtime = fixture.start();
        runtime.ready().await;
        if modern {
            asked(&actor_log, "subscriptions/listen", 1).await;
        }
        let act = async {
            call(&runtime, "mcp_fs_one", json!({ "extras": 3 })).await;
        };
        assert_eq!(changes_of(&runtime, act).await, "3 resources, 3 prompts");
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_change_right_after_the_first_list_is_noticed() {
    let after_list = Some(vec!["one".to_owned(), "two".to_owned()]);
    let (fixture, _) = fixture(Script { after_list, ..Script::with_tools(["one"]) });
    let runtime = fixture.start();
    until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_late_confirmation_of_a_subscription_lists_the_tools_again() {
    let after_list = Some(vec!["one".to_owned(), "two".to_owned()]);
    let script = Script { after_list, listen_late: true, ..Script::with_tools(["one"]) };
    let (fixture, _) = fixture(script);
    let runtime = fixture.start();
    until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_server_without_changes_is_asked_for_its_tools_once() {
    let (fixture, actor_log) = fixture(Script::with_tools(["one"]));
    let runtime = fixture.start();
    runtime.ready().await;
    // The order of the requests shows that no other list was requested.
    call(&runtime, "mcp_fs_one", json!({ "sleepMs": 600 })).await;
    assert_eq!(
        actor_log.request_methods(),
        ["server/discover", "subscriptions/listen", "tools/list", "tools/call"]
    );
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_reconnected_server_is_subscribed_to_again() {
    let (fixture, actor_log) = fixture(Script::with_tools(["one"]));
    let runtime = fixture.start();
    runtime.ready().await;
    kill(actor_log.starts()[0]);
    asked(&actor_log, "subscriptions/listen", 2).await;
    until(&runtime, "it is back", |it| it.server("fs").unwrap().status == Status::Connected).await;
    call(&runtime, "mcp_fs_one", json!({ "tools": ["one", "two"] })).await;
    until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    runtime.shutdown().await;
}

/// A server that lists one tool at first and two from then on, without a notification.
#[derive(Default)]
struct GrowingService(AtomicUsize);

impl Service for GrowingService {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("growing", "1")
    }

    fn describe(self: Arc<Self>, _: Client) -> DescriptionFuture {
        let can = json!({ "tools": { "listChanged": true } });
        Box::pin(async move { ServerDescription::new(can.to_string().parse().unwrap()) })
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            if call.method != "tools/list" {
                return Err(RpcError::method_not_found(&call.method));
            }
            let names = ["one", "two"].into_iter().take(1 + self.0.fetch_add(1, Ordering::SeqCst));
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            let all: Vec<_> = names.map(tool).collect();
            Ok(json!({ "tools": all }).to_string().parse().unwrap())
        })
    }
}

#[tokio::test]
async fn a_change_before_the_subscription_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let server = McpServer::new(GrowingService::default());
        server.serve_http(listener, HttpServerOptions::default()).await.unwrap();
    });
    let mut fixture = Fixture::new();
    fixture.server("web", json!({ "url": url }));
    let runtime = fixture.start();
    until(&runtime, "two appears", |it| it.registry().tools().len() == 2).await;
    runtime.shutdown().await;
}
