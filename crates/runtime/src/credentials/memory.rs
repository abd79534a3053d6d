//! A store in memory, for programs that keep nothing on disk, and for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wharf_config::{Credential, CredentialSummary, select_credential};

use super::store::{
    CredentialLock, CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential,
};

/// A store in memory: its credentials last as long as the program.
#[derive(Default)]
pub struct MemoryCredentials {
    stored: Mutex<BTreeMap<String, Credential>>,
    /// The references of the credentials that are locked.
    locked: Arc<Mutex<BTreeSet<String>>>,
}

/// Releases the lock of a credential.
struct HeldLock {
    locked: Arc<Mutex<BTreeSet<String>>>,
    id: String,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl MemoryCredentials {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn stored(&self) -> MutexGuard<'_, BTreeMap<String, Credential>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CredentialStore for MemoryCredentials {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        let stored = self.stored();
        let Some(id) = wanted.id else {
            let all = stored.iter().map(|(id, found)| (&**id, found.clone()));
            let found = wanted.resource.and_then(|it| select_credential(all, it, wanted.account));
            return Ok(found.map(|(id, found)| StoredCredential::new(id, found)));
        };
        Ok(stored.get(id).map(|found| StoredCredential::new(id, found.clone())))
    }

    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        self.stored().insert(id.to_owned(), credential.clone());
        Ok(())
    }

    fn remove(&self, id: &str) -> Result<bool, CredentialStoreError> {
        Ok(self.stored().remove(id).is_some())
    }

    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        let stored = self.stored();
        Ok(stored.iter().map(|(id, found)| CredentialSummary::of(id, found)).collect())
    }

    fn try_lock(&self, id: &str) -> Result<Option<CredentialLock>, CredentialStoreError> {
        let is_free = {
            let mut locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
            locked.insert(id.to_owned())
        };
        let held = || HeldLock { locked: Arc::clone(&self.locked), id: id.to_owned() };
        Ok(is_free.then(|| CredentialLock::new(held())))
    }
}

/// Shows the references.
impl fmt::Debug for MemoryCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.stored().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_locked_until_the_lock_is_dropped() {
        let store = MemoryCredentials::new();
        let held = store.try_lock("one").unwrap().unwrap();
        assert!(store.try_lock("one").unwrap().is_none());
        assert!(store.try_lock("other").unwrap().is_some());
        drop(held);
        assert!(store.try_lock("one").unwrap().is_some());
    }
}
