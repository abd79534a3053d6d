//! Keeps a modern server telling us about changes; a legacy one does so by itself.

use std::time::Duration;

use wharf_protocol::Peer;
use wharf_protocol::era::Era;
use wharf_protocol::peer::RequestOptions;
use wharf_protocol::view::{Feature, SubscriptionFilter};

use super::inbox::Changes;

/// How long to wait before a subscription that ended is asked for again.
const AGAIN: Duration = Duration::from_secs(30);

/// Subscribes to everything that the server tells of, again and again; never ends by itself.
pub(super) async fn listen(peer: &Peer, changes: &Changes, limit: Duration) {
    let can = &peer.profile().capabilities;
    let tells = |feature: Option<Feature>| feature.is_some_and(|feature| feature.list_changed);
    let filter = SubscriptionFilter {
        tools_list_changed: tells(can.tools()),
        prompts_list_changed: tells(can.prompts()),
        resources_list_changed: tells(can.resources()),
        ..SubscriptionFilter::default()
    };
    if peer.era() == Era::Legacy || filter.is_empty() {
        return std::future::pending().await;
    }
    let options = RequestOptions::within(limit);
    let mut is_first = true;
    loop {
        let outcome = match peer.listen(&filter, &options).await {
            Ok(subscription) => {
                // What happened while nobody listened is found out by looking.
                if !std::mem::take(&mut is_first) {
                    changes.tools_changed();
                }
                subscription.await
            }
            Err(error) => Err(error),
        };
        tracing::debug!(is_error = outcome.is_err(), "a subscription ended");
        tokio::time::sleep(AGAIN).await;
    }
}
