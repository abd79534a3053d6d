//! The store of the user, `credentials.json` in Wharf's folder.

use std::path::PathBuf;
use std::sync::Arc;

use wharf_config::store::{FileLock, LOCK_TIMEOUT, StoreError, WriteLock};
use wharf_config::{
    Credential, CredentialError, CredentialSummary, Credentials, Env, select_credential,
};

use super::store::{
    CredentialLock, CredentialQuery, CredentialStore, CredentialStoreError, StoredCredential,
};

/// The store of the user, `credentials.json` in Wharf's folder; read on each lookup.
#[derive(Debug, Clone)]
pub struct FileCredentials {
    env: Arc<Env>,
}

impl FileCredentials {
    /// Uses the store in this environment.
    pub fn new(env: Arc<Env>) -> Self {
        Self { env }
    }

    /// Returns the folder of the locks.
    fn run(&self) -> Result<PathBuf, CredentialError> {
        Ok(self.env.wharf_home().ok_or(CredentialError::NoHome)?.join("run"))
    }

    /// Changes the file under its lock.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Credentials) -> T,
    ) -> Result<T, CredentialStoreError> {
        let _lock = WriteLock::acquire(&self.run()?, LOCK_TIMEOUT)?;
        let mut credentials = Credentials::load(&self.env)?;
        let changed = change(&mut credentials);
        credentials.save()?;
        Ok(changed)
    }
}

impl From<StoreError> for CredentialStoreError {
    fn from(error: StoreError) -> Self {
        Self::new(error.to_string())
    }
}

impl CredentialStore for FileCredentials {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        if self.env.wharf_home().is_none() && wanted.id.is_none() {
            return Ok(None);
        }
        let stored = Credentials::load(&self.env)?;
        Ok(match (wanted.id, wanted.resource) {
            (Some(id), _) => stored.get(id).map(|found| StoredCredential::new(id, found)),
            (None, Some(resource)) => select_credential(stored.all(), resource, wanted.account)
                .map(|(id, found)| StoredCredential::new(id, found)),
            (None, None) => None,
        })
    }

    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        self.change(|stored| stored.set(id, credential))
    }

    fn remove(&self, id: &str) -> Result<bool, CredentialStoreError> {
        self.change(|stored| stored.remove(id))
    }

    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        let stored = Credentials::load(&self.env)?;
        Ok(stored.all().map(|(id, found)| CredentialSummary::of(id, &found)).collect())
    }

    fn try_lock(&self, id: &str) -> Result<Option<CredentialLock>, CredentialStoreError> {
        let lock = FileLock::try_acquire(&Credentials::lock_file(&self.env, id)?)?;
        Ok(lock.map(CredentialLock::new))
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::{Platform, Secret};

    use super::*;

    fn store(folder: &tempfile::TempDir) -> FileCredentials {
        let env = Env::new(Platform::HOST, folder.path()).with_home(folder.path());
        FileCredentials::new(Arc::new(env))
    }

    #[test]
    fn a_stored_credential_is_found_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let credential = Credential::bearer("https://a.example/mcp", Secret::new("t"));
        store.put("one", &credential).unwrap();
        let find = |query: CredentialQuery<'_>| store.find(&query).unwrap().map(|found| found.id);
        assert_eq!(find(CredentialQuery::new(Some("one"), None, None)).as_deref(), Some("one"));
        assert_eq!(find(CredentialQuery::new(Some("two"), None, None)), None);
        #[cfg(feature = "http")]
        {
            let by = |account| CredentialQuery::new(None, Some("https://a.example/mcp"), account);
            assert_eq!(find(by(None)).as_deref(), Some("one"));
            assert_eq!(find(by(Some("work"))), None);
        }
        let listed: Vec<String> = store.list().unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(listed, ["one"]);
        assert_eq!((store.remove("one"), store.remove("one")), (Ok(true), Ok(false)));
    }

    #[test]
    fn the_lock_of_a_credential_is_held_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let held = store.try_lock("a/b").unwrap().unwrap();
        assert!(store.try_lock("a/b").unwrap().is_none());
        assert!(store.try_lock("other").unwrap().is_some());
        drop(held);
        assert!(store.try_lock("a/b").unwrap().is_some());
    }
}
