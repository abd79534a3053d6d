//! The credential store, `credentials.json`: config entries hold a reference, this file (mode 0600)
//! holds the token.
//!
//! A credential is bound to the address it was stored for. An entry that refers to it from another
//! address does not get it. `record` is one credential, `select` finds the one of a server, `fields`
//! reads and writes JSON objects. `keychain_record` is what the file has of a credential whose
//! secrets are in the keychain.

mod fields;
mod keychain_record;
mod record;
mod select;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::keychain_record::TokenCopy;
pub use self::record::{
    ClientOrigin, Credential, GrantKind, InvalidCredential, OAuthClient, OAuthGrant, TokenType,
};
pub use self::select::{CredentialSummary, credential_id, select_credential, select_summary};
use crate::env::Env;
use crate::secret::Secret;
use crate::store::{self, FileLock, StoreError, StoreErrorKind, private_file};

/// How long another process may take to renew a credential.
const RENEWAL_LIMIT: Duration = Duration::from_secs(45);

/// The stored credentials of one person.
#[derive(Debug, Default)]
pub struct Credentials {
    path: Option<PathBuf>,
    file: CredentialFile,
}

#[derive(Default, Serialize, Deserialize)]
struct CredentialFile {
    version: u32,
    credentials: BTreeMap<String, Map<String, Value>>,
    /// Fields of later versions, kept unchanged.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl std::fmt::Debug for CredentialFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.credentials.keys()).finish()
    }
}

/// Why the credentials could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// There is no home folder for the file.
    #[error("{}", crate::env::NO_HOME)]
    NoHome,
    /// The file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file is not valid JSON of the expected form.
    #[error("{} is malformed (line {line})", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
}

impl Credentials {
    /// Reads the store.
    pub fn load(env: &Env) -> Result<Self, CredentialError> {
        let path = env.wharf_home().ok_or(CredentialError::NoHome)?.join("credentials.json");
        let file = match store::read(&path)? {
            // The error's message is dropped: it may quote a token.
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                CredentialError::Malformed { path: path.clone(), line: error.line() }
            })?,
            None => CredentialFile::default(),
        };
        Ok(Self { path: Some(path), file })
    }

    /// Returns the file whose lock ([`FileLock`]) is held by whoever renews, moves
    /// or replaces a credential.
    pub fn lock_file(env: &Env, id: &str) -> Result<PathBuf, CredentialError> {
        let home = env.wharf_home().ok_or(CredentialError::NoHome)?;
        // The id of an entry may have any characters, so the file is named after its hash.
        Ok(home.join("run").join(format!("credential-{}.lock", credential_id(id, None))))
    }

    /// Waits for that lock while another process renews the credential. Blocks the thread.
    pub fn lock(env: &Env, id: &str) -> Result<FileLock, CredentialError> {
        Ok(FileLock::acquire(&Self::lock_file(env, id)?, RENEWAL_LIMIT)?)
    }

    /// Stores a token for an address and returns the reference to it.
    pub fn add_bearer(
        &mut self,
        resource: &str,
        token: &Secret,
    ) -> Result<String, CredentialError> {
        self.set_bearer(None, resource, token)
    }

    /// Stores a token under this reference, or under a new one, and returns the reference.
    pub fn set_bearer(
        &mut self,
        id: Option<&str>,
        resource: &str,
        token: &Secret,
    ) -> Result<String, CredentialError> {
        let id = match id {
            Some(id) => id.to_owned(),
            None => self.random_id()?,
        };
        self.set(&id, &Credential::bearer(resource, token.clone()));
        Ok(id)
    }

    /// Stores a credential under this reference; replaces the one that is there.
    pub fn set(&mut self, id: &str, credential: &Credential) {
        self.file.credentials.insert(id.to_owned(), credential.to_fields());
    }

    /// Stores what is not secret of a credential under this reference. The secrets are in the
    /// keychain, in an entry of this name.
    pub fn set_keychain_record(
        &mut self,
        id: &str,
        credential: &Credential,
        entry: &str,
        copy: TokenCopy,
    ) {
        let record = keychain_record::write(credential, entry, copy);
        self.file.credentials.insert(id.to_owned(), record);
    }

    /// Returns the name of the keychain entry that has the secrets of a credential; none if they are
    /// in this file.
    pub fn keychain_entry(&self, id: &str) -> Option<&str> {
        keychain_record::entry(self.file.credentials.get(id)?)
    }

    /// Tells whether the secrets of any credential are in the keychain.
    pub fn uses_keychain(&self) -> bool {
        self.file.credentials.values().any(|fields| keychain_record::entry(fields).is_some())
    }

    /// Summarizes all readable credentials, wherever their secrets are.
    pub fn summaries(&self) -> Vec<CredentialSummary> {
        let stored = self.file.credentials.iter();
        stored.filter_map(|(id, fields)| keychain_record::summarize(id, fields)).collect()
    }

    /// Makes a random name for a keychain entry.
    pub fn new_keychain_entry(&self) -> Result<String, CredentialError> {
        self.random_id()
    }

    fn random_id(&self) -> Result<String, CredentialError> {
        let path = self.path.as_ref().ok_or(CredentialError::NoHome)?;
        let error = |source| StoreError::new(path, StoreErrorKind::NoRandomness(source));
        Ok(private_file::random_id().map_err(error)?)
    }

    /// Returns a credential by its reference; none also if it is not readable. Of a credential whose
    /// secrets are in the keychain, only the token may be here; then it has no other secrets.
    pub fn get(&self, id: &str) -> Option<Credential> {
        Credential::from_fields(keychain_record::in_file(self.file.credentials.get(id)?)).ok()
    }

    /// Returns all readable credentials with their references.
    pub fn all(&self) -> impl Iterator<Item = (&str, Credential)> {
        let ids = self.file.credentials.keys();
        ids.filter_map(|id| Some((&**id, self.get(id)?)))
    }

    /// Removes a credential; returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        self.file.credentials.remove(id).is_some()
    }

    /// Writes the store. The caller holds the lock.
    pub fn save(&mut self) -> Result<(), CredentialError> {
        self.file.version = 1;
        let path = self.path.as_ref().ok_or(CredentialError::NoHome)?;
        let mut text = serde_json::to_string_pretty(&self.file).unwrap_or_default();
        text.push('\n');
        private_file::write(path, &text)?;
        Ok(())
    }
}
