//! Sends change notifications (`list_changed`, `resources/updated`) to legacy sessions and to
//! modern subscriptions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::client::Client;
use super::legacy_session::SessionId;
use super::message_sink::MessageSink;
use super::subscriptions::ServerSubscriptionFilter;
use crate::Json;
use crate::envelope::{self, Id};
use crate::view::meta::key::SUBSCRIPTION_ID;
use crate::view::{send, with_meta};

/// Sends change notifications to the clients of a server. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ChangeNotifier(Arc<NotifierState>);

#[derive(Debug, Default)]
struct NotifierState {
    sessions: Mutex<HashMap<SessionId, Client>>,
    subscriptions: Mutex<Subscriptions>,
}

#[derive(Debug, Default)]
struct Subscriptions {
    last: u64,
    open: HashMap<u64, OpenSubscription>,
}

/// An open subscription: its id, its filter, and where its notifications go.
#[derive(Debug)]
pub(crate) struct OpenSubscription {
    pub(crate) id: Id,
    pub(crate) filter: ServerSubscriptionFilter,
    pub(crate) sink: MessageSink,
}

impl ChangeNotifier {
    /// Sends a notification to all clients that it is for.
    ///
    /// Legacy sessions get everything except updates of resources that they did not subscribe to;
    /// modern clients get what their filter includes. Never waits: if a client does not read, its
    /// oldest notifications are dropped.
    pub fn notify_all(&self, method: &str, params: Option<&Json>) {
        let subject = params.and_then(|params| params.get("uri")?.to_text());
        let message = envelope::notification(method, params);
        for client in lock(&self.0.sessions).values() {
            let Some(session) = client.legacy_session() else { continue };
            let is_recipient = method != "notifications/resources/updated"
                || subject.as_ref().is_some_and(|uri| session.is_subscribed(uri));
            if is_recipient {
                session.sink().send_lossy(message.clone());
            }
        }
        for subscription in lock(&self.0.subscriptions).open.values() {
            if subscription.filter.includes(method, params) {
                subscription.sink.send_lossy(with_subscription_id(
                    method,
                    params,
                    &subscription.id,
                ));
            }
        }
    }

    /// Notifies that the list of tools changed.
    pub fn tools_changed(&self) {
        self.notify_all("notifications/tools/list_changed", None);
    }

    /// Notifies that the list of prompts changed.
    pub fn prompts_changed(&self) {
        self.notify_all("notifications/prompts/list_changed", None);
    }

    /// Notifies that the list of resources changed.
    pub fn resources_changed(&self) {
        self.notify_all("notifications/resources/list_changed", None);
    }

    /// Notifies that the contents of a resource changed.
    pub fn resource_updated(&self, uri: &str) {
        self.notify_all("notifications/resources/updated", Some(&send::resource(uri)));
    }

    /// Returns the client of an open session.
    pub fn client(&self, session: &SessionId) -> Option<Client> {
        lock(&self.0.sessions).get(session).cloned()
    }

    /// Returns how many sessions and subscriptions are open.
    pub fn subscriber_count(&self) -> usize {
        lock(&self.0.sessions).len() + lock(&self.0.subscriptions).open.len()
    }

    pub(crate) fn add_session(&self, client: Client) {
        if let Some(session) = client.session().cloned() {
            lock(&self.0.sessions).insert(session, client);
        }
    }

    pub(crate) fn remove_session(&self, session: &SessionId) -> Option<Client> {
        lock(&self.0.sessions).remove(session)
    }

    /// Opens a subscription; its first message is the acknowledgement.
    pub(crate) fn subscribe(&self, subscription: OpenSubscription) -> SubscriptionGuard {
        let accepted = subscription.filter.to_json();
        let params = Json::trusted(format!(r#"{{"notifications":{}}}"#, accepted.as_str()));
        let method = "notifications/subscriptions/acknowledged";
        let mut subscriptions = lock(&self.0.subscriptions);
        subscriptions.last += 1;
        let number = subscriptions.last;
        subscription.sink.send_lossy(with_subscription_id(method, Some(&params), &subscription.id));
        subscriptions.open.insert(number, subscription);
        drop(subscriptions);
        SubscriptionGuard { change_notifier: self.clone(), number }
    }
}

/// Keeps a subscription open.
#[derive(Debug)]
pub(crate) struct SubscriptionGuard {
    change_notifier: ChangeNotifier,
    number: u64,
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        lock(&self.change_notifier.0.subscriptions).open.remove(&self.number);
    }
}

/// Writes a notification with the subscription id in its `_meta`; other bytes are unchanged.
fn with_subscription_id(method: &str, params: Option<&Json>, id: &Id) -> Vec<u8> {
    let params = with_meta(params, &[(SUBSCRIPTION_ID, &id.to_string())]);
    envelope::notification(method, Some(&params))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(params: Option<&str>, expected: &str) {
        let params = params.map(|params| params.parse().unwrap());
        let found = with_subscription_id("m", params.as_ref(), &Id::from(7));
        let found = String::from_utf8(found).unwrap();
        assert_eq!(
            found.strip_prefix(r#"{"jsonrpc":"2.0","method":"m","params":"#),
            Some(expected)
        );
    }

    #[test]
    fn a_notification_says_which_subscription_it_belongs_to() {
        check(None, r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#);
        check(
            Some(r#"{"uri":"a:b","n":1.0}"#),
            r#"{"uri":"a:b","n":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#,
        );
        check(
            Some(r#"{"uri":"a:b","_meta":{"x":1.50}}"#),
            r#"{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":7,"x":1.50}}}"#,
        );
    }
}
