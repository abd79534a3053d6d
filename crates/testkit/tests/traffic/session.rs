//! Records a whole session in one revision that uses all features of both sides.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::{ProgressMode, RequestOptions};
use wharf_protocol::transport::process::ProcessLaunch;
use wharf_protocol::view::send::{ClientInfo, CompletionRequest, Object, Reference};
use wharf_protocol::view::{LogLevel, SubscriptionFilter};
use wharf_protocol::{ConnectOptions, Json, Peer, StdioSpec, connect_stdio};
use wharf_testkit::schema::Sender;

use super::handler::TestHandler;

const DEADLINE: Duration = Duration::from_secs(15);
const CHART: &str = "harbour://chart";

/// Returns every line of a session with its sender.
pub(crate) async fn recorded(revision: Revision) -> Vec<(Sender, String)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traffic");
    tokio::time::timeout(2 * DEADLINE, Box::pin(session(revision, &file))).await.unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let sender = |mark: &str| if mark == ">" { Sender::Client } else { Sender::Server };
    text.lines().map(|line| line.split_at(1)).map(|(mark, it)| (sender(mark), it.into())).collect()
}

async fn session(revision: Revision, file: &Path) {
    let arguments = vec!["--record".into(), file.into()];
    let launch =
        ProcessLaunch { arguments, ..ProcessLaunch::new(env!("CARGO_BIN_EXE_wharf-sample")) };
    let options = ConnectOptions {
        remembered: Some(revision),
        capabilities: TestHandler::capabilities(),
        timeout: DEADLINE,
        ..ConnectOptions::new(ClientInfo::new("wharf-test", "1"))
    };
    let (handler, mut notifications) = TestHandler::new();
    let peer = connect_stdio(&StdioSpec::new(launch), &options, Arc::new(handler)).await.unwrap();
    assert_eq!(peer.revision(), revision);
    fetch(&peer).await;
    call_tools(&peer).await;
    let changed = async {
        call(&peer, "change", &json!({})).await;
        while notifications.recv().await.unwrap() != "notifications/resources/updated" {}
    };
    match peer.era() {
        Era::Legacy => legacy(&peer, changed).await,
        Era::Modern => modern(&peer, changed).await,
    }
    peer.close().await;
}

async fn fetch(peer: &Peer) {
    let options = with_deadline();
    peer.list_tools(&options).await.unwrap();
    peer.list_resources(&options).await.unwrap();
    peer.list_resource_templates(&options).await.unwrap();
    peer.list_prompts(&options).await.unwrap();
    peer.read_resource(CHART, &options).await.unwrap();
    peer.read_resource("harbour://nowhere", &options).await.unwrap_err();
    let ship = [("ship".to_owned(), "Ada".to_owned())];
    peer.get_prompt("welcome", &ship, &options).await.unwrap();
    let request = CompletionRequest {
        reference: Reference::Prompt("welcome".into()),
        argument: "ship".into(),
        value: "n".into(),
        known: vec![("berth".into(), "south".into())],
    };
    peer.complete(&request, &options).await.unwrap();
    peer.ping(&options).await.unwrap();
    peer.request("harbour/unknown", None, &options).await.unwrap_err();
}

async fn call_tools(peer: &Peer) {
    call(peer, "echo", &json!({"text": "ahoy"})).await;
    call(peer, "slow", &json!({"steps": 2, "pause_ms": 1})).await;
    for question in ["ask", "sample", "roots"] {
        call(peer, question, &json!({})).await;
    }
    call(peer, "log", &json!({})).await;
    // A call that is cancelled.
    let endless = json!({"steps": 1, "pause_ms": 600_000});
    tokio::select! {
        text = call(peer, "slow", &endless) => panic!("{text}"),
        () = until(peer, "slow began", 2) => {}
    }
    until(peer, "slow was cancelled", 1).await;
}

async fn legacy(peer: &Peer, changed: impl Future<Output = ()>) {
    let options = with_deadline();
    peer.set_log_level(LogLevel::Error, &options).await.unwrap();
    call(peer, "log", &json!({})).await;
    peer.notify_roots_changed().await.unwrap();
    peer.subscribe_resource(CHART, &options).await.unwrap();
    changed.await;
    peer.unsubscribe_resource(CHART, &options).await.unwrap();
}

async fn modern(peer: &Peer, changed: impl Future<Output = ()>) {
    let filter = SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: vec![CHART.to_owned()],
        task_ids: Vec::new(),
    };
    let subscription = peer.listen(&filter, &with_deadline()).await.unwrap();
    tokio::select! {
        over = subscription => panic!("{over:?}"),
        () = changed => {}
    }
    until(peer, "audience", 0).await;
}

async fn call(peer: &Peer, tool: &str, arguments: &Value) -> String {
    let arguments = Object::try_from(Json::encode(arguments).unwrap()).unwrap();
    // In the modern era, each request has the log level.
    let level = ("io.modelcontextprotocol/logLevel".to_owned(), r#""debug""#.parse().unwrap());
    let is_modern = peer.era() == Era::Modern;
    let options = RequestOptions {
        progress: ProgressMode::KeepAlive,
        meta: is_modern.then_some(level).into_iter().collect(),
        ..with_deadline()
    };
    let result = Box::pin(peer.call_tool(tool, Some(&arguments), &options)).await.unwrap();
    let blocks = result.content();
    blocks.iter().find_map(|block| block.as_text()).unwrap().to_string()
}

/// Polls the server; the deadline of the session ends it.
async fn until(peer: &Peer, event: &str, count: u64) {
    loop {
        let told: Value = serde_json::from_str(&call(peer, "history", &json!({})).await).unwrap();
        if told[event].as_u64().unwrap_or_default() == count {
            return;
        }
        tokio::task::yield_now().await;
    }
}

fn with_deadline() -> RequestOptions {
    RequestOptions::within(DEADLINE)
}
