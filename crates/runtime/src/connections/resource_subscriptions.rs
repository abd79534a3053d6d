//! Subscriptions to single resources that the host has asked for, kept over reconnects.
//!
//! A legacy server gets `resources/subscribe` for each URI, again after each new session. For a
//! modern server the URIs are part of the filter of its one subscription, which is replaced when
//! they change. Changes arrive as `Event::ResourceUpdated`. The runtime and each view own their
//! subscriptions: those of a view end with it, and never with those of another.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::watch;
use wharf_config::ServerName;

use crate::scope::SubscriptionOwner;

/// The maximum number of subscribed resources of one server.
const MAX_PER_SERVER: usize = 1_000;

/// The subscribed URIs by server; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct ResourceSubscriptions(Arc<watch::Sender<UrisByServer>>);

type UrisByServer = BTreeMap<ServerName, OwnersByUri>;

type OwnersByUri = BTreeMap<String, Vec<Weak<()>>>;

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
    /// Adds a URI for an owner; returns whether it is new to this owner.
    pub(crate) fn add(
        &self,
        server: &ServerName,
        uri: &str,
        owner: &SubscriptionOwner,
    ) -> Result<bool, TooManySubscriptions> {
        let mut outcome = Ok(false);
        self.0.send_if_modified(|all| {
            let uris = all.entry(server.clone()).or_default();
            let has_ended = drop_ended(uris);
            if uris.len() >= MAX_PER_SERVER && !uris.contains_key(uri) {
                outcome = Err(TooManySubscriptions);
                return has_ended;
            }
            let is_new_uri = !uris.contains_key(uri);
            let owners = uris.entry(uri.to_owned()).or_default();
            if !owners.iter().any(|other| owner.is(other)) {
                owners.push(owner.downgrade());
                outcome = Ok(true);
            }
            is_new_uri || has_ended
        });
        outcome
    }

    /// Removes a URI of an owner; returns whether no other owner has it.
    pub(crate) fn remove(&self, server: &ServerName, uri: &str, owner: &SubscriptionOwner) -> bool {
        let mut is_last = true;
        self.0.send_if_modified(|all| {
            let Some(uris) = all.get_mut(server) else { return false };
            if let Some(owners) = uris.get_mut(uri) {
                owners.retain(|other| !owner.is(other));
            }
            let has_ended = drop_ended(uris);
            is_last = !uris.contains_key(uri);
            if uris.is_empty() {
                all.remove(server);
            }
            has_ended
        });
        is_last
    }

    /// Returns the URIs of a server.
    pub(super) fn uris(&self, server: &ServerName) -> Vec<String> {
        let all = self.0.borrow();
        all.get(server).into_iter().flat_map(wanted).cloned().collect()
    }

    /// Waits until the URIs of a server differ from these.
    pub(super) async fn wait_for_change(&self, server: &ServerName, uris: &[String]) {
        let mut changes = self.0.subscribe();
        let differs = |all: &UrisByServer| match all.get(server) {
            Some(now) => !wanted(now).eq(uris),
            None => !uris.is_empty(),
        };
        // The sender is in `self`, so this does not fail.
        drop(changes.wait_for(differs).await);
    }
}

/// Returns the URIs that an owner still has.
fn wanted(uris: &OwnersByUri) -> impl Iterator<Item = &String> {
    let is_wanted = |owners: &Vec<Weak<()>>| owners.iter().any(|it| it.strong_count() > 0);
    uris.iter().filter(move |(_, owners)| is_wanted(owners)).map(|(uri, _)| uri)
}

/// Drops the URIs that no owner has any more; returns whether there were any.
fn drop_ended(uris: &mut OwnersByUri) -> bool {
    let before = uris.len();
    uris.retain(|_, owners| {
        owners.retain(|owner| owner.strong_count() > 0);
        !owners.is_empty()
    });
    uris.len() < before
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_uris_of_one_server_change_by_themselves() {
        let (all, fs, other) =
            (ResourceSubscriptions::default(), ServerName::new("fs"), ServerName::new("other"));
        let owner = SubscriptionOwner::default();
        assert_eq!(all.add(&fs, "file:///b", &owner), Ok(true));
        assert_eq!(all.add(&fs, "file:///b", &owner), Ok(false));
        assert_eq!(all.add(&other, "file:///a", &owner), Ok(true));
        assert_eq!(all.uris(&fs), ["file:///b"]);
        assert!(all.wait_for_change(&fs, &["file:///b".to_owned()]).now_or_never().is_none());
        assert!(all.wait_for_change(&fs, &[]).now_or_never().is_some());
        assert!(all.remove(&fs, "file:///b", &owner));
        assert!(all.uris(&fs).is_empty());
    }

    #[test]
    fn a_uri_is_subscribed_to_while_one_owner_wants_it() {
        let (all, fs) = (ResourceSubscriptions::default(), ServerName::new("fs"));
        let (one, another) = (SubscriptionOwner::default(), SubscriptionOwner::default());
        assert_eq!(all.add(&fs, "x:1", &one), Ok(true));
        assert_eq!(all.add(&fs, "x:1", &another), Ok(true));
        assert!(!all.remove(&fs, "x:1", &one), "the other owner still wants it");
        assert!(!all.remove(&fs, "x:1", &one), "it cannot end what it does not own");
        assert_eq!(all.uris(&fs), ["x:1"]);
        drop(another);
        assert!(all.uris(&fs).is_empty(), "its owner is gone");
    }

    #[test]
    fn the_number_of_subscriptions_is_limited() {
        let (all, fs) = (ResourceSubscriptions::default(), ServerName::new("fs"));
        let (owner, gone) = (SubscriptionOwner::default(), SubscriptionOwner::default());
        assert_eq!(all.add(&fs, "x:gone", &gone), Ok(true));
        for number in 1..MAX_PER_SERVER {
            assert_eq!(all.add(&fs, &format!("x:{number}"), &owner), Ok(true));
        }
        assert_eq!(all.add(&fs, "x:more", &owner), Err(TooManySubscriptions));
        assert_eq!(all.add(&fs, "x:1", &owner), Ok(false));
        drop(gone);
        assert_eq!(all.add(&fs, "x:more", &owner), Ok(true), "the place of the other is free");
    }
}
