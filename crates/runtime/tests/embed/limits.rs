//! Limits of single servers: a list that never ends, and long lists and messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use wharf::protocol::Json;
use wharf::protocol::envelope::RpcError;
use wharf::protocol::serve::{
    Client, DescriptionFuture, FunctionTool, McpServer, ServerDescription, ServerInfo, Service,
    ServiceAnswer, ServiceCall, ToolReply, ToolService,
};
use wharf::{Approval, CallErrorReason, FailureKind, Runtime, Status, in_process};

use super::world::{CallCount, LIMIT, notes};

/// Has one more page of tools, for ever.
#[derive(Default)]
struct Endless(AtomicUsize);

impl Service for Endless {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("endless", "1.0.0")
    }

    fn describe(self: Arc<Self>, _client: Client) -> DescriptionFuture {
        let capabilities = Json::from(json!({ "tools": {} }));
        Box::pin(std::future::ready(ServerDescription::new(capabilities)))
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        let page = self.0.fetch_add(1, Ordering::Relaxed);
        let tool = json!({ "name": format!("tool_{page}"), "inputSchema": { "type": "object" } });
        let result = json!({ "tools": [tool], "nextCursor": page.to_string() });
        Box::pin(std::future::ready(match call.method.as_ref() {
            "tools/list" => Ok(result.into()),
            method => Err(RpcError::method_not_found(method)),
        }))
    }
}

fn endless() -> wharf::ServerEntry {
    in_process(McpServer::new(Endless::default()))
}

#[tokio::test]
async fn a_list_that_never_ends_holds_ready_only_for_the_time_limit_of_lists() {
    let limit = Duration::from_millis(300);
    let runtime = Runtime::builder()
        .server("endless", endless().list_timeout(limit))
        .server("notes", notes(&CallCount::default()))
        .start()
        .await
        .unwrap();
    let began = Instant::now();
    let snapshot = tokio::time::timeout(LIMIT, runtime.ready()).await.expect("it is ready");
    assert!(began.elapsed() >= limit, "it was waited for");
    let failed = snapshot.server("endless").unwrap();
    assert_eq!(failed.failure.as_ref().unwrap().kind, FailureKind::TimedOut);
    assert_eq!(snapshot.server("notes").unwrap().status, Status::Connected);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_long_list_is_cut_at_the_limit_of_the_server() {
    let runtime =
        Runtime::builder().server("endless", endless().max_list_entries(7)).start().await.unwrap();
    let snapshot = tokio::time::timeout(LIMIT, runtime.ready()).await.expect("it is ready");
    assert_eq!(snapshot.tools().len(), 7);
    let server = snapshot.server("endless").unwrap();
    assert_eq!(server.cut.unwrap().to_string(), "it has more than 7 entries");
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_message_over_the_limit_of_its_server_costs_that_call() {
    let long = FunctionTool::new("long", async |_| Ok(ToolReply::text("x".repeat(100_000))));
    let short = FunctionTool::new("short", async |_| Ok(ToolReply::text("x")));
    let service = ToolService::new("texts", "1.0.0").tool(long).tool(short);
    let entry = in_process(service.into_server()).approval(Approval::Never);
    let builder = Runtime::builder().server("texts", entry.max_message_bytes(50_000));
    let runtime = builder.start().await.unwrap();
    runtime.ready().await;
    let error = runtime.call("texts/long", ()).await.error.unwrap();
    assert_eq!(error.reason, CallErrorReason::InvalidResponse);
    assert!(runtime.call("texts/short", ()).await.ok());
    runtime.shutdown().await;
}

#[tokio::test]
async fn other_limits_are_another_connection() {
    let env = wharf::Env::new(wharf::Platform::HOST, std::path::MAIN_SEPARATOR_STR);
    let entry = endless();
    let catalog = |limit: usize| {
        let mut catalog = wharf::Catalog::new(&env);
        catalog.insert("endless", entry.clone().max_list_entries(limit));
        catalog
    };
    let runtime = Runtime::builder().server("endless", entry.clone().max_list_entries(3));
    let runtime = runtime.start().await.unwrap();
    runtime.settled().await;
    let changes = runtime.apply(&catalog(5)).await.unwrap();
    assert_eq!(changes.changed, [wharf::ServerName::new("endless")]);
    assert_eq!(runtime.settled().await.tools().len(), 5);
    runtime.shutdown().await;
}
