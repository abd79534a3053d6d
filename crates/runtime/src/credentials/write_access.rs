//! Changes a credential from asynchronous code, under a lock that all processes share: for signing
//! in, signing out and renewal.

use std::time::Duration;

use tokio::time::Instant;
use wharf_config::{Credential, CredentialSummary};

use super::access::StoreAccess;
use super::store::{CredentialLock, CredentialQuery, CredentialStoreError, StoredCredential};

/// The first interval between two attempts to take a lock; it doubles after each attempt.
const SHORTEST_LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// The longest interval between two attempts to take a lock.
const LONGEST_LOCK_INTERVAL: Duration = Duration::from_millis(100);

impl StoreAccess {
    /// Looks up a credential with everything that its renewal needs.
    pub(crate) async fn find_whole(
        &self,
        wanted: CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        if !self.store.may_block() {
            return self.store.find_whole(&wanted);
        }
        let [id, resource, account] =
            [wanted.id, wanted.resource, wanted.account].map(|it| it.map(str::to_owned));
        self.call(move |store| {
            let (id, resource) = (id.as_deref(), resource.as_deref());
            store.find_whole(&CredentialQuery::new(id, resource, account.as_deref()))
        })
        .await
    }

    /// Returns what is known of the credential under a reference, without its secrets.
    pub(crate) async fn summary(
        &self,
        id: &str,
    ) -> Result<Option<CredentialSummary>, CredentialStoreError> {
        let id = id.to_owned();
        self.call(move |store| Ok(store.list()?.into_iter().find(|known| known.id == id))).await
    }

    /// Stores a credential.
    pub(crate) async fn put(
        &self,
        id: &str,
        credential: &Credential,
    ) -> Result<(), CredentialStoreError> {
        let (id, credential) = (id.to_owned(), credential.clone());
        self.call(move |store| store.put(&id, &credential)).await
    }

    /// Removes a credential.
    pub(crate) async fn remove(&self, id: &str) -> Result<bool, CredentialStoreError> {
        let id = id.to_owned();
        self.call(move |store| store.remove(&id)).await
    }

    /// Waits for the lock of a credential; `None` after the limit.
    pub(crate) async fn lock(
        &self,
        id: &str,
        limit: Duration,
    ) -> Result<Option<CredentialLock>, CredentialStoreError> {
        let deadline = Instant::now() + limit;
        let mut interval = SHORTEST_LOCK_INTERVAL;
        loop {
            let lock = if self.store.may_block() {
                let id = id.to_owned();
                self.call(move |store| store.try_lock(&id)).await?
            } else {
                self.store.try_lock(id)?
            };
            if lock.is_some() || Instant::now() >= deadline {
                return Ok(lock);
            }
            tokio::time::sleep(interval).await;
            interval = (interval * 2).min(LONGEST_LOCK_INTERVAL);
        }
    }
}
