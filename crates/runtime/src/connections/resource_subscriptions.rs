//! Subscriptions to single resources that the host has asked for, kept over reconnects.
//!
//! A legacy server gets `resources/subscribe` for each URI, again after each new session. For a
//! modern server the URIs are part of the filter of its one subscription, which is replaced when
//! they change. Changes arrive as `Event::ResourceUpdated`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;
use wharf_config::ServerName;

/// The maximum number of subscribed resources of one server.
const MAX_PER_SERVER: usize = 1_000;

/// The subscribed URIs by server; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct ResourceSubscriptions(Arc<watch::Sender<UrisByServer>>);

type UrisByServer = BTreeMap<ServerName, BTreeSet<String>>;

/// The host asks for too many resources of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_PER_SERVER} resources of this server are subscribed to")]
pub(crate) struct TooManySubscriptions;

impl Default for ResourceSubscriptions {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(BTreeMap::new())))
    }
}

impl ResourceSubscriptions {
    /// Adds a URI; returns whether it is new.
    pub(crate) fn add(&self, server: &ServerName, uri: &str) -> Result<bool, TooManySubscriptions> {
        let mut outcome = Ok(false);
        self.0.send_if_modified(|all| {
            let uris = all.entry(server.clone()).or_default();
            outcome = match uris.contains(uri) {
                true => Ok(false),
                false if uris.len() >= MAX_PER_SERVER => Err(TooManySubscriptions),
                false => Ok(uris.insert(uri.to_owned())),
            };
            outcome == Ok(true)
        });
        outcome
    }

    /// Removes a URI; returns whether it was there.
    pub(crate) fn remove(&self, server: &ServerName, uri: &str) -> bool {
        self.0.send_if_modified(|all| {
            let Some(uris) = all.get_mut(server) else { return false };
            let was_there = uris.remove(uri);
            if uris.is_empty() {
                all.remove(server);
            }
            was_there
        })
    }

    /// Returns the URIs of a server.
    pub(super) fn uris(&self, server: &ServerName) -> Vec<String> {
        self.0.borrow().get(server).map(|uris| uris.iter().cloned().collect()).unwrap_or_default()
    }

    /// Waits until the URIs of a server differ from these.
    pub(super) async fn wait_for_change(&self, server: &ServerName, uris: &[String]) {
        let mut changes = self.0.subscribe();
        let differs = |all: &UrisByServer| match all.get(server) {
            Some(now) => !now.iter().eq(uris),
            None => !uris.is_empty(),
        };
        // The sender is in `self`, so this does not fail.
        drop(changes.wait_for(differs).await);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_uris_of_one_server_change_by_themselves() {
        let (all, fs, other) =
            (ResourceSubscriptions::default(), ServerName::new("fs"), ServerName::new("other"));
        assert_eq!(all.add(&fs, "file:///b"), Ok(true));
        assert_eq!(all.add(&fs, "file:///b"), Ok(false));
        assert_eq!(all.add(&other, "file:///a"), Ok(true));
        assert_eq!(all.uris(&fs), ["file:///b"]);
        assert!(all.wait_for_change(&fs, &["file:///b".to_owned()]).now_or_never().is_none());
        assert!(all.wait_for_change(&fs, &[]).now_or_never().is_some());
        assert!(all.remove(&fs, "file:///b") && !all.remove(&fs, "file:///b"));
        assert!(all.uris(&fs).is_empty());
    }

    #[test]
    fn the_number_of_subscriptions_is_limited() {
        let (all, fs) = (ResourceSubscriptions::default(), ServerName::new("fs"));
        for number in 0..MAX_PER_SERVER {
            assert_eq!(all.add(&fs, &format!("x:{number}")), Ok(true));
        }
        assert_eq!(all.add(&fs, "x:more"), Err(TooManySubscriptions));
        assert_eq!(all.add(&fs, "x:1"), Ok(false));
    }
}
