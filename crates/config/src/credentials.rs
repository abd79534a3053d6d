//! The credential store, `credentials.json`: config entries hold a reference, this file (mode 0600)
//! holds the token.
//!
//! A credential is bound to the address it was stored for. An entry that refers to it from another
//! address does not get it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::secret::{Secret, redact_command, redact_url};
use crate::store::{self, StoreError, StoreErrorKind, private_file};

/// The stored credentials of one person.
#[derive(Debug, Default)]
pub struct Credentials {
    path: Option<PathBuf>,
    file: CredentialFile,
}

/// A token and the server it is bound to.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The address, or the launch identity of a program, that it is bound to.
    pub resource: String,
    /// Who issued it, if known from signing in.
    pub issuer: Option<String>,
    /// The account it belongs to.
    pub account: Option<String>,
    /// The token.
    pub token: Secret,
}

/// The address may have a key in its query, and the words of a program a password.
impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_address = self.resource.contains("://");
        let redact = if is_address { redact_url } else { redact_command };
        f.debug_struct("Credential")
            .field("resource", &redact(&self.resource))
            .field("issuer", &self.issuer.as_deref().map(redact_url))
            .field("account", &self.account)
            .field("token", &self.token)
            .finish()
    }
}

#[derive(Default, Serialize, Deserialize)]
struct CredentialFile {
    version: u32,
    credentials: BTreeMap<String, StoredCredential>,
}

impl std::fmt::Debug for CredentialFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.credentials.keys()).finish()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCredential {
    #[serde(rename = "type")]
    kind: String,
    resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    token: String,
    /// Fields of later versions, kept unchanged.
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
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
        let path = self.path.clone().ok_or(CredentialError::NoHome)?;
        let id = match id {
            Some(id) => id.to_owned(),
            None => private_file::random_id()
                .map_err(|source| StoreError::new(&path, StoreErrorKind::NoRandomness(source)))?,
        };
        let stored = StoredCredential {
            kind: "bearer".to_owned(),
            resource: resource.to_owned(),
            issuer: None,
            account: None,
            token: token.expose().to_owned(),
            rest: serde_json::Map::new(),
        };
        self.file.credentials.insert(id.clone(), stored);
        Ok(id)
    }

    /// Returns a credential by its reference.
    pub fn get(&self, id: &str) -> Option<Credential> {
        self.file.credentials.get(id).map(|stored| Credential {
            resource: stored.resource.clone(),
            issuer: stored.issuer.clone(),
            account: stored.account.clone(),
            token: Secret::new(&*stored.token),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_output_of_a_credential_has_no_secret() {
        for resource in ["https://a.example/mcp?key=hunter1", "tool --token hunter1"] {
            let credential = Credential {
                resource: resource.to_owned(),
                issuer: Some("https://issuer.example/?key=hunter2".to_owned()),
                account: None,
                token: Secret::new("hunter3"),
            };
            let rendered = format!("{credential:?}");
            assert!(!rendered.contains("hunter") && rendered.contains("resource"), "{rendered}");
        }
        let fields = crate::EntryFields {
            headers_helper: Some(Secret::new("print hunter4")),
            ..crate::EntryFields::default()
        };
        assert!(!format!("{fields:?}").contains("hunter"));
    }
}
