//! Tests subscriptions to single resources in both eras, also after a reconnect.

use futures_util::FutureExt as _;
use serde_json::json;
use wharf::protocol::era::Era;
use wharf::{AllowAll, Event, Events, Runtime, in_process};
use wharf_protocol::serve::McpServer;
use wharf_testkit::server::SampleService;

use super::fixture::{LIMIT, call};

/// The resource that the tool `change` says to have changed.
const CHART: &str = "harbour://chart";

async fn start(revision: &str) -> Runtime {
    let server = in_process(McpServer::new(SampleService::default()));
    let builder = Runtime::builder().server("harbour", server.protocol_version(revision));
    let runtime = builder.approver(AllowAll).start().await.unwrap();
    runtime.settled().await;
    runtime
}

/// Tells whether an update has been reported since the last time.
fn is_reported(events: &mut Events) -> bool {
    let mut is_reported = false;
    while let Some(Some(event)) = events.next().now_or_never() {
        if let Event::ResourceUpdated { server, uri } = event {
            assert_eq!((server.as_str(), uri.as_str()), ("harbour", CHART));
            is_reported = true;
        }
    }
    is_reported
}

/// Changes the resource until an update is reported: a modern server confirms a subscription a
/// moment later, and so does a legacy one after a reconnect.
async fn change_until_reported(runtime: &Runtime, events: &mut Events) {
    let changing = async {
        loop {
            assert_eq!(call(runtime, "harbour/change", json!({})).await, "changed");
            if is_reported(events) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, changing).await.expect("the update is reported");
}

#[tokio::test]
async fn updates_of_a_resource_are_reported_also_after_a_reconnect() {
    for (revision, era) in [("2025-11-25", Era::Legacy), ("2026-07-28", Era::Modern)] {
        let runtime = start(revision).await;
        let connected = runtime.connect("harbour").await.unwrap();
        assert_eq!(connected.info.as_ref().unwrap().era(), era);
        let mut events = runtime.events();
        assert_eq!(call(&runtime, "harbour/change", json!({})).await, "changed");
        assert!(!is_reported(&mut events), "nothing was subscribed to");
        runtime.subscribe_resource("harbour", CHART).await.unwrap();
        change_until_reported(&runtime, &mut events).await;
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        change_until_reported(&runtime, &mut events).await;
        runtime.unsubscribe_resource("harbour", CHART).await.unwrap();
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        assert_eq!(call(&runtime, "harbour/change", json!({})).await, "changed");
        runtime.shutdown().await;
        assert!(!is_reported(&mut events), "nothing is subscribed to any more");
    }
}
