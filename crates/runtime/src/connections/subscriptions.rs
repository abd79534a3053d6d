//! List-changed subscriptions, subscribed resources and the log level, for as long as a connection
//! lasts. A modern server needs a subscription; a legacy server sends list changes without one.
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
use super::resource_subscriptions::ResourceSubscriptions;
use super::server_messages::ServerMessageHandler;

/// The wait before a subscription that ended is requested again.
const RESUBSCRIBE_DELAY: Duration = Duration::from_secs(30);

/// Keeps a subscription open while it is polled; dropping it ends the subscription.
pub(super) type SubscriptionLoop = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// The log levels and resources that must be requested again in each new session.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostRequests {
    pub(crate) log_levels: LogLevels,
    pub(crate) resources: ResourceSubscriptions,
}

/// Sets the log level and subscribes to resources, for a legacy server again after each new
/// session, and subscribes to all lists of a modern server. `limit` applies to each response.
pub(super) fn keep_subscribed(
    peer: Peer,
    handler: Arc<ServerMessageHandler>,
    wanted: HostRequests,
    limit: Duration,
) -> SubscriptionLoop {
    let options = RequestOptions::within(limit);
    Box::pin(async move {
        restore_level(&peer, handler.server(), &wanted.log_levels, &options).await;
        if peer.era() == Era::Modern {
            return subscribe(&peer, &handler, &wanted.resources, &options).await;
        }
        loop {
            restore_resources(&peer, handler.server(), &wanted.resources, &options).await;
            handler.wait_for_new_session().await;
            restore_level(&peer, handler.server(), &wanted.log_levels, &options).await;
        }
    })
}

/// Subscribes to the resources that the host has asked for.
async fn restore_resources(
    peer: &Peer,
    server: &ServerName,
    resources: &ResourceSubscriptions,
    options: &RequestOptions,
) {
    for uri in resources.uris(server) {
        if let Err(error) = peer.subscribe_resource(&uri, options).await {
            let is_error_response = error.error_response().is_some();
            tracing::debug!(%server, is_error_response, "could not subscribe to a resource");
        }
    }
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
    resources: &ResourceSubscriptions,
    options: &RequestOptions,
) -> Infallible {
    let capabilities = &peer.profile().capabilities;
    let tells =
        |details: Option<CapabilityDetails>| details.is_some_and(|details| details.list_changed);
    let mut filter = SubscriptionFilter {
        tools_list_changed: tells(capabilities.tools()),
        prompts_list_changed: tells(capabilities.prompts()),
        resources_list_changed: tells(capabilities.resources()),
        ..SubscriptionFilter::default()
    };
    let server = handler.server();
    let mut is_first = true;
    loop {
        filter.resource_subscriptions = resources.uris(server);
        let uris = filter.resource_subscriptions.clone();
        let changed = resources.wait_for_change(server, &uris);
        if filter.is_empty() {
            changed.await;
            continue;
        }
        let subscribed = async {
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
        };
        tokio::select! {
            biased;
            // Ends this subscription, and begins one for the other resources.
            () = changed => {}
            () = subscribed => {}
        }
    }
}
