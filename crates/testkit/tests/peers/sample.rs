//! The client with our own sample server, which has some of every feature.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use wharf_protocol::era::Era;
use wharf_protocol::peer::{Deadline, ProgressMode, RequestError, RequestOptions};
use wharf_protocol::view::send::{CompletionRequest, Reference};
use wharf_protocol::view::{ResourceBody, SubscriptionFilter};

use super::connection::{DEADLINE, TestConnection, call, text, with_deadline};
use super::tools_are_called;

everywhere!(
    crate::connection::SAMPLE,
    [
        everything_is_listed,
        tools_are_called,
        a_refusal_differs_from_a_failure,
        progress_restarts_the_idle_timeout,
        silence_ends_in_the_idle_timeout,
        a_dropped_call_is_cancelled_at_the_server,
        requests_of_the_server_are_answered,
        list_changes_are_notified,
        resources_prompts_and_completions_are_fetched
    ]
);

async fn everything_is_listed(connection: &mut TestConnection) {
    let (peer, options) = (&connection.peer, with_deadline());
    assert_eq!(peer.profile().server.name().as_deref(), Some("wharf-sample"));
    assert_eq!(peer.profile().instructions.as_deref(), Some("Ask before you land."));
    let tools = peer.list_tools(&options).await.unwrap().items;
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_string()).collect();
    assert_eq!(names[..4], ["echo", "add", "slow", "ask"]);
    let resources = peer.list_resources(&options).await.unwrap().items;
    assert_eq!(resources.len(), 1);
    let templates = peer.list_resource_templates(&options).await.unwrap().items;
    assert_eq!(templates.len(), 1);
    assert_eq!(peer.list_prompts(&options).await.unwrap().items.len(), 1);
    peer.ping(&options).await.unwrap();
    assert_eq!(peer.violations(), []);
}

async fn a_refusal_differs_from_a_failure(connection: &mut TestConnection) {
    let outcome = call(&connection.peer, "sink", &json!({}), &with_deadline()).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.error_response().unwrap().message, "Unknown tool: sink");
    assert!(!error.never_sent());
}

async fn progress_restarts_the_idle_timeout(connection: &mut TestConnection) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let idle = Duration::from_millis(1500);
    let options = RequestOptions {
        deadline: Deadline { idle, cap: DEADLINE },
        progress: ProgressMode::Listener(Arc::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        })),
        ..RequestOptions::default()
    };
    // Longer in all than the idle timeout, but with progress in between.
    let arguments = json!({"steps": 4, "pause_ms": 500});
    let result = call(&connection.peer, "slow", &arguments, &options).await.unwrap();
    assert_eq!(text(&result), "arrived");
    assert_eq!(count.load(Ordering::Relaxed), 4);
}

async fn silence_ends_in_the_idle_timeout(connection: &mut TestConnection) {
    let options = RequestOptions::within(Duration::from_millis(300));
    let arguments = json!({"steps": 1, "pause_ms": 600_000});
    let error = call(&connection.peer, "slow", &arguments, &options).await.unwrap_err();
    assert!(matches!(error, RequestError::TimedOut { .. }), "{error}");
    connection.until("slow was cancelled", 1).await;
}

async fn a_dropped_call_is_cancelled_at_the_server(connection: &mut TestConnection) {
    let (arguments, options) = (json!({"pause_ms": 600_000}), with_deadline());
    tokio::select! {
        outcome = call(&connection.peer, "slow", &arguments, &options) => panic!("{outcome:?}"),
        () = connection.until("slow began", 1) => {}
    }
    connection.until("slow was cancelled", 1).await;
    assert_eq!(connection.call("echo", &json!({"text": "still here"})).await, "still here");
}

async fn requests_of_the_server_are_answered(connection: &mut TestConnection) {
    let berth = connection.call("ask", &json!({})).await;
    assert_eq!(berth, r#"{"action":"accept","content":{"berth":"north"}}"#);
    assert!(connection.call("sample", &json!({})).await.contains("pier"));
    assert!(connection.call("roots", &json!({})).await.contains("file:///harbour"));
}

async fn list_changes_are_notified(connection: &mut TestConnection) {
    let TestConnection { peer, notifications, .. } = connection;
    let changed = async {
        call(peer, "change", &json!({}), &with_deadline()).await.unwrap();
        let mut missing = vec!["tools", "prompts", "resources"];
        while !missing.is_empty() {
            let method = notifications.recv().await.unwrap();
            missing.retain(|list| method != format!("notifications/{list}/list_changed"));
        }
    };
    if peer.era() == Era::Legacy {
        return changed.await;
    }
    let filter = SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        ..SubscriptionFilter::default()
    };
    let subscription = peer.listen(&filter, &with_deadline()).await.unwrap();
    assert_eq!(subscription.acknowledged, filter);
    tokio::select! {
        over = subscription => panic!("{over:?}"),
        () = changed => {}
    }
}

async fn resources_prompts_and_completions_are_fetched(connection: &mut TestConnection) {
    let (peer, options) = (&connection.peer, with_deadline());
    let read = peer.read_resource("harbour://berth/north", &options).await.unwrap();
    let body = read.contents()[0].body();
    assert!(matches!(&body, ResourceBody::Text(text) if text.contains("north")), "{body:?}");
    let ship = [("ship".to_owned(), "Ada".to_owned())];
    let prompt = peer.get_prompt("welcome", &ship, &options).await.unwrap();
    let content = prompt.messages()[0].content();
    assert_eq!(content[0].as_text().unwrap(), "Welcome Ada to the harbour.");
    let request = CompletionRequest {
        reference: Reference::ResourceTemplate("harbour://berth/{berth}".into()),
        argument: "berth".into(),
        value: "north".into(),
        known: Vec::new(),
    };
    let completion = peer.complete(&request, &options).await.unwrap();
    assert_eq!(completion.values(), ["north", "north-east"]);
}
