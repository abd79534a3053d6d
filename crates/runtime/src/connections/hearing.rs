//! Keeps a server telling us about changes, and as much of its log as somebody wants. A modern server
//! has to be asked for both, a legacy one tells of changes by itself.
//!
//! A change between a list and the subscription would be told to nobody. On a pipe the subscription
//! goes out right before the first list, so a server that takes one thing after the other confirms it
//! first, and nothing is asked twice. Where it is confirmed later, the tools are listed once more, in
//! the background: over HTTP always, as a subscription keeps the connection that the list could use.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use wharf_config::ServerName;
use wharf_protocol::Peer;
use wharf_protocol::era::Era;
use wharf_protocol::peer::RequestOptions;
use wharf_protocol::view::{Feature, SubscriptionFilter};

use super::inbox::Inbox;
use super::levels::Levels;

/// How long to wait before a subscription that ended is asked for again.
const AGAIN: Duration = Duration::from_secs(30);

/// A subscription that is kept up for as long as this is polled; dropped, it ends.
pub(super) type Hearing = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// Says how much the server should log, to a legacy one again whenever it forgot its session, and
/// subscribes to everything that a modern one tells of. Each answer may take `limit`.
pub(super) fn listen(peer: Peer, inbox: Arc<Inbox>, levels: Levels, limit: Duration) -> Hearing {
    let options = RequestOptions::within(limit);
    Box::pin(async move {
        restore_level(&peer, inbox.server(), &levels, &options).await;
        if peer.era() == Era::Modern {
            return subscribe(&peer, &inbox, &options).await;
        }
        loop {
            inbox.forgotten().await;
            restore_level(&peer, inbox.server(), &levels, &options).await;
        }
    })
}

/// Says how much the server should log, if anybody has said so.
async fn restore_level(
    peer: &Peer,
    server: &ServerName,
    levels: &Levels,
    options: &RequestOptions,
) {
    let Some(level) = levels.of(server) else { return };
    if let Err(error) = peer.set_log_level(level, options).await {
        let is_refused = error.refusal().is_some();
        tracing::debug!(%server, is_refused, "could not set the log level");
    }
}

async fn subscribe(peer: &Peer, inbox: &Inbox, options: &RequestOptions) -> Infallible {
    let can = &peer.profile().capabilities;
    let tells = |feature: Option<Feature>| feature.is_some_and(|feature| feature.list_changed);
    let filter = SubscriptionFilter {
        tools_list_changed: tells(can.tools()),
        prompts_list_changed: tells(can.prompts()),
        resources_list_changed: tells(can.resources()),
        ..SubscriptionFilter::default()
    };
    if filter.is_empty() {
        return std::future::pending().await;
    }
    let mut is_first = true;
    loop {
        let outcome = match peer.listen(&filter, options).await {
            Ok(subscription) => {
                inbox.listening(&filter, subscription.is_before_next_response);
                if !std::mem::take(&mut is_first) {
                    inbox.may_have_missed(&filter);
                }
                subscription.await
            }
            Err(error) => Err(error),
        };
        tracing::debug!(is_error = outcome.is_err(), "a subscription ended");
        tokio::time::sleep(AGAIN).await;
    }
}
