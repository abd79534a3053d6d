//! Tells clients about changes: sessions of the older era, and modern subscriptions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::client::Client;
use super::outlet::Outlet;
use super::session::SessionId;
use super::subscribe::Filter;
use crate::Json;
use crate::envelope::{self, Id};
use crate::view::meta::key::SUBSCRIPTION_ID;
use crate::view::with_meta;

/// Tells the clients of a server about changes. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Announcer(Arc<Hub>);

#[derive(Debug, Default)]
struct Hub {
    sessions: Mutex<HashMap<SessionId, Client>>,
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    last: u64,
    open: HashMap<u64, Listener>,
}

/// A subscription: what it wants, and where it goes.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) id: Id,
    pub(crate) filter: Filter,
    pub(crate) outlet: Outlet,
}

impl Announcer {
    /// Sends a notification to all clients that should hear it.
    ///
    /// Sessions hear everything but changes of resources they did not subscribe to; modern clients
    /// hear what they listen for. Never waits: a client that does not read loses old news.
    pub fn announce(&self, method: &str, params: Option<&Json>) {
        let subject = params.and_then(|params| params.get("uri")?.to_text());
        let message = envelope::notification(method, params);
        for client in lock(&self.0.sessions).values() {
            let Some(session) = client.legacy() else { continue };
            let is_meant = method != "notifications/resources/updated"
                || subject.as_ref().is_some_and(|uri| session.watches(uri));
            if is_meant {
                session.outlet().offer(message.clone());
            }
        }
        for listener in lock(&self.0.listeners).open.values() {
            if listener.filter.admits(method, params) {
                listener.outlet.offer(tagged(method, params, &listener.id));
            }
        }
    }

    /// Says that the list of tools is another one now.
    pub fn tools_changed(&self) {
        self.announce("notifications/tools/list_changed", None);
    }

    /// Says that the list of prompts is another one now.
    pub fn prompts_changed(&self) {
        self.announce("notifications/prompts/list_changed", None);
    }

    /// Says that the list of resources is another one now.
    pub fn resources_changed(&self) {
        self.announce("notifications/resources/list_changed", None);
    }

    /// Says that a resource has another content now.
    pub fn resource_updated(&self, uri: &str) {
        let params = Json::trusted(format!(r#"{{"uri":{}}}"#, serde_json::Value::from(uri)));
        self.announce("notifications/resources/updated", Some(&params));
    }

    /// Returns the client of a session that is open.
    pub fn client(&self, session: &SessionId) -> Option<Client> {
        lock(&self.0.sessions).get(session).cloned()
    }

    /// Returns how many sessions and subscriptions are open.
    pub fn audience(&self) -> usize {
        lock(&self.0.sessions).len() + lock(&self.0.listeners).open.len()
    }

    pub(crate) fn enter(&self, client: Client) {
        if let Some(session) = client.session().cloned() {
            lock(&self.0.sessions).insert(session, client);
        }
    }

    pub(crate) fn leave(&self, session: &SessionId) -> Option<Client> {
        lock(&self.0.sessions).remove(session)
    }

    /// Opens a subscription; the acknowledgement is the first thing its client hears.
    pub(crate) fn listen(&self, listener: Listener) -> Seat {
        let honoured = listener.filter.to_json();
        let params = Json::trusted(format!(r#"{{"notifications":{}}}"#, honoured.as_str()));
        let method = "notifications/subscriptions/acknowledged";
        let mut listeners = lock(&self.0.listeners);
        listeners.last += 1;
        let number = listeners.last;
        listener.outlet.offer(tagged(method, Some(&params), &listener.id));
        listeners.open.insert(number, listener);
        drop(listeners);
        Seat { announcer: self.clone(), number }
    }
}

/// Keeps a subscription open.
#[derive(Debug)]
pub(crate) struct Seat {
    announcer: Announcer,
    number: u64,
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.announcer.0.listeners).open.remove(&self.number);
    }
}

/// Writes a notification with the subscription's id in its `_meta`, and leaves the rest as it is.
fn tagged(method: &str, params: Option<&Json>, id: &Id) -> Vec<u8> {
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
        let found = tagged("m", params.as_ref(), &Id::from(7));
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
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"a:b","n":1.0}}"#,
        );
        check(
            Some(r#"{"uri":"a:b","_meta":{"x":1.50}}"#),
            r#"{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":7,"x":1.50}}}"#,
        );
    }
}
