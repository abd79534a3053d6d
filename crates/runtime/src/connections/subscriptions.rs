//! List-changed subscriptions, and the log level, for as long as a connection lasts. A modern
//! server needs a subscription; a legacy server sends notifications without one.
//!
//! A change between a list and the subscription would be missed. On stdio the subscription is sent
//! right before the first list, so a server that handles requests in order confirms it first, and
//! one list is enough. If it is confirmed later, the tools are listed once more in the background.
//! Over HTTP that is always so, because the subscription occupies the connection that the list
//! would use.
//!
//! `server_messages` receives the notifications, and `debounce` decides when the lists are
//! requested again.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use wharf_config::ServerName;
use wharf_protocol::Peer;
use wharf_protocol::era::Era;
use wharf_protocol::peer::RequestOptions;
use wharf_protocol::view::{CapabilityDetails, SubscriptionFilter};

use super::log_levels::LogLevels;
use super::server_messages::ServerMessageHandler;

/// The wait before a subscription that ended is requested again.
const RESUBSCRIBE_DELAY: Duration = Duration::from_secs(30);

/// Keeps a subscription open while it is polled; dropping it ends the subscription.
pub(super) type SubscriptionLoop = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// Sets the log level, for a legacy server again after each new session, and subscribes to all
/// lists of a modern server. `limit` applies to each response.
pub(super) fn keep_subscribed(
    peer: Peer,
    handler: Arc<ServerMessageHandler>,
    log_levels: LogLevels,
    limit: Duration,
) -> SubscriptionLoop {
    let options = RequestOptions::within(limit);
    Box::pin(async move {
        restore_level(&peer, handler.server(), &log_levels, &options).await;
        if peer.era() == Era::Modern {
            return subscribe(&peer, &handler, &options).await;
        }
        loop {
            handler.wait_for_new_session().await;
            restore_level(&peer, handler.server(), &log_levels, &options).await;
        }
    })
}

/// Sets the log level, if the host has set one.
async fn restore_level(
    peer: &Peer,
    server: &ServerName,
    log_levels: &LogLevels,
    options: &RequestOptions,
) {
    let Some(level) = log_levels.get(server) else { return };
    if let Err(error) = peer.set_log_level(level, options).await {
        let is_error_response = error.error_response().is_some();
        tracing::debug!(%server, is_error_response, "could not set the log level");
    }
}

async fn subscribe(
    peer: &Peer,
    handler: &ServerMessageHandler,
    options: &RequestOptions,
) -> Infallible {
    let capabilities = &peer.profile().capabilities;
    let tells =
        |details: Option<CapabilityDetails>| details.is_some_and(|details| details.list_changed);
    let filter = SubscriptionFilter {
        tools_list_changed: tells(capabilities.tools()),
        prompts_list_changed: tells(capabilities.prompts()),
        resources_list_changed: tells(capabilities.resources()),
        ..SubscriptionFilter::default()
    };
    if filter.is_empty() {
        return std::future::pending().await;
    }
    let mut is_first = true;
    loop {
        let outcome = match peer.listen(&filter, options).await {
            Ok(subscription) => {
                handler.note_subscribed(&filter, subscription.is_before_next_response);
                if !std::mem::take(&mut is_first) {
                    handler.send_missed_changes(&filter);
                }
                subscription.await
            }
            Err(error) => Err(error),
        };
        tracing::debug!(is_error = outcome.is_err(), "a subscription ended");
        tokio::time::sleep(RESUBSCRIBE_DELAY).await;
    }
}
