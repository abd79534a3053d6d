//! Calls a credential store from asynchronous code.
//!
//! A call that may block runs on a thread of its own, with a limit: a keychain may wait for the
//! person, or never answer. A thread that hangs does not delay the end of the program; once too
//! many hang, later calls fail at once. `write_access` has the calls that change a credential.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::store::{CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential};

/// How long a store may take; a person may have to unlock it.
const LIMIT: Duration = Duration::from_secs(60);

/// How many calls may wait for a store at the same time.
const MAX_WAITING: usize = 16;

/// A store, for asynchronous code. Clones share the store.
#[derive(Clone)]
pub(crate) struct StoreAccess {
    pub(super) store: Arc<dyn CredentialStore>,
    waiting: Arc<AtomicUsize>,
}

/// Shows nothing: a store may have tokens.
impl fmt::Debug for StoreAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreAccess").finish_non_exhaustive()
    }
}

/// Counts a call that has not returned.
struct WaitingCall(Arc<AtomicUsize>);

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl StoreAccess {
    pub(crate) fn new(store: Arc<dyn CredentialStore>) -> Self {
        Self { store, waiting: Arc::default() }
    }

    /// Looks up a credential.
    pub(crate) async fn find(
        &self,
        wanted: CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        if !self.store.may_block() {
            return self.store.find(&wanted);
        }
        let [id, resource, account] =
            [wanted.id, wanted.resource, wanted.account].map(|it| it.map(str::to_owned));
        self.call(move |store| {
            let (id, resource) = (id.as_deref(), resource.as_deref());
            store.find(&CredentialQuery::new(id, resource, account.as_deref()))
        })
        .await
    }

    /// Calls the store on a thread of its own.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn CredentialStore) -> Result<T, CredentialStoreError> + Send + 'static,
    ) -> Result<T, CredentialStoreError> {
        let waiting = WaitingCall(Arc::clone(&self.waiting));
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
            return Err(CredentialStoreError::new("the credential store does not answer"));
        }
        let (sender, receiver) = oneshot::channel();
        let store = Arc::clone(&self.store);
        let run = move || {
            let outcome = call(&*store);
            drop(waiting);
            // Nobody waits any more after the limit.
            drop(sender.send(outcome));
        };
        thread::Builder::new()
            .name("credential-store".to_owned())
            .spawn(run)
            .map_err(|error| CredentialStoreError::new(error.to_string()))?;
        match tokio::time::timeout(LIMIT, receiver).await {
            Ok(Ok(outcome)) => outcome,
            // The sender is dropped by a panic.
            Ok(Err(_)) => Err(CredentialStoreError::new("the credential store failed")),
            Err(_) => Err(CredentialStoreError::new(format!(
                "the credential store did not answer within {LIMIT:?}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// A keychain that is waiting for the person, or panics.
    struct BrokenKeychain {
        panics: bool,
    }

    impl CredentialStore for BrokenKeychain {
        fn find(
            &self,
            _: &CredentialQuery<'_>,
        ) -> Result<Option<StoredCredential>, CredentialStoreError> {
            assert!(!self.panics, "a keychain that panics on purpose");
            loop {
                thread::park();
            }
        }

        fn may_block(&self) -> bool {
            true
        }
    }

    async fn find(store: &StoreAccess) -> String {
        let wanted = CredentialQuery::new(Some("id"), None, None);
        store.find(wanted).await.unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn a_keychain_that_never_answers_ends_the_wait_and_then_fails_at_once() {
        let store = StoreAccess::new(Arc::new(BrokenKeychain { panics: false }));
        for _ in 0..MAX_WAITING {
            assert_eq!(find(&store).await, "the credential store did not answer within 60s");
        }
        let began = Instant::now();
        assert_eq!(find(&store).await, "the credential store does not answer");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_keychain_that_panics_is_an_error() {
        let store = StoreAccess::new(Arc::new(BrokenKeychain { panics: true }));
        assert_eq!(find(&store).await, "the credential store failed");
    }
}
