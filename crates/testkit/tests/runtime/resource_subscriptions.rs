//! Tests subscriptions to single resources in both eras, also after a reconnect.

use futures_util::FutureExt as _;
use serde_json::json;
use wharf::call::CallErrorReason;
use wharf::protocol::era::Era;
use wharf::{AllowAll, Event, Events, Runtime, ViewOptions, in_process};
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

/// Checks that no update is reported. Notifications keep their order, so one of a later change
/// proves that an update of an earlier change would have arrived.
async fn assert_no_update_is_reported(runtime: &Runtime, events: &mut Events) {
    let changing = async {
        let mut seen = 0;
        while seen < 2 {
            assert_eq!(call(runtime, "harbour/change", json!({})).await, "changed");
            while let Some(Some(event)) = events.next().now_or_never() {
                assert!(
                    !matches!(event, Event::ResourceUpdated { .. }),
                    "nothing is subscribed to"
                );
                seen += usize::from(matches!(event, Event::ResourcesChanged { .. }));
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, changing).await.expect("changes of the list are reported");
}

#[tokio::test]
async fn updates_of_a_resource_are_reported_also_after_a_reconnect() {
    for (revision, era) in [("2025-11-25", Era::Legacy), ("2026-07-28", Era::Modern)] {
        let runtime = start(revision).await;
        let connected = runtime.connect("harbour").await.unwrap();
        assert_eq!(connected.info.as_ref().unwrap().era(), era);
        let mut events = runtime.events();
        assert_no_update_is_reported(&runtime, &mut events).await;
        runtime.subscribe_resource("harbour", CHART).await.unwrap();
        change_until_reported(&runtime, &mut events).await;
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        change_until_reported(&runtime, &mut events).await;
        runtime.unsubscribe_resource("harbour", CHART).await.unwrap();
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        assert_no_update_is_reported(&runtime, &mut events).await;
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_view_ends_only_its_own_subscription() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let runtime = start(revision).await;
        let [one, another] =
            [(); 2].map(|()| runtime.view(ViewOptions::new().servers(["harbour"])));
        let mut events = runtime.events();
        one.subscribe_resource("harbour", CHART).await.unwrap();
        another.subscribe_resource("harbour", CHART).await.unwrap();
        change_until_reported(&runtime, &mut events).await;
        one.unsubscribe_resource("harbour", CHART).await.unwrap();
        // A host does not end what its views asked for, either.
        runtime.unsubscribe_resource("harbour", CHART).await.unwrap();
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        change_until_reported(&runtime, &mut events).await;
        drop(another);
        runtime.connect("harbour").await.unwrap();
        let mut events = runtime.events();
        assert_no_update_is_reported(&runtime, &mut events).await;
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn a_view_of_a_part_of_a_server_cannot_subscribe() {
    let runtime = start("2025-11-25").await;
    let view = runtime.view(ViewOptions::new().tools(["harbour/change"]));
    let error = view.subscribe_resource("harbour", CHART).await.unwrap_err();
    assert_eq!(error.reason, CallErrorReason::Denied);
    let mut events = runtime.events();
    assert_no_update_is_reported(&runtime, &mut events).await;
    runtime.shutdown().await;
}
