//! The trait of a credential store.
//!
//! A store holds credentials under references (ids). It does not decide who may use one: the
//! runtime checks the binding of a credential, whatever the store returns.

use std::any::Any;
use std::fmt;

use wharf_config::secret::redact_url;
use wharf_config::{Credential, CredentialError, CredentialSummary, ServerUrl};

/// A store of tokens.
///
/// A store that only implements [`find`](Self::find) is read-only: its tokens are used, but nobody
/// can sign in, and a renewed token lives only as long as the program.
///
/// [`find`](Self::find) and [`try_lock`](Self::try_lock) are called while a server is being
/// connected. If they may wait for another process (a keychain), [`may_block`](Self::may_block)
/// must return `true`; then they run on a thread of their own, with a limit. All other functions
/// always do.
///
/// ```
/// use wharf::{
///     Credential, CredentialQuery, CredentialStore, CredentialStoreError, Secret,
///     StoredCredential,
/// };
///
/// /// Has one token, for one server.
/// struct OneToken(Secret);
///
/// impl CredentialStore for OneToken {
///     fn find(
///         &self,
///         wanted: &CredentialQuery<'_>,
///     ) -> Result<Option<StoredCredential>, CredentialStoreError> {
///         let resource = "https://mcp.example.com/";
///         Ok((wanted.resource == Some(resource)).then(|| {
///             StoredCredential::new("only", Credential::bearer(resource, self.0.clone()))
///         }))
///     }
/// }
/// ```
pub trait CredentialStore: Send + Sync + 'static {
    /// Looks up a credential: by its reference, else by address and account
    /// ([`select_credential`](wharf_config::select_credential)). Called before each connection and
    /// after a 401. A credential is used only for the address and account to which it is bound.
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError>;

    /// Looks up a credential with everything that its renewal and its revocation need.
    /// [`find`](Self::find) may leave that out ([`StoredCredential::is_partial`]) for a token that is
    /// still valid, if it is elsewhere.
    fn find_whole(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        self.find(wanted)
    }

    /// Stores a credential under a reference and replaces the one that is there. When it returns,
    /// the credential must survive a crash; if it fails, the old one must still be there.
    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        let _ = (id, credential);
        Err(CredentialStoreError::read_only())
    }

    /// Removes a credential; returns whether it existed.
    fn remove(&self, id: &str) -> Result<bool, CredentialStoreError> {
        let _ = id;
        Err(CredentialStoreError::read_only())
    }

    /// Lists what is stored, without secrets.
    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        Ok(Vec::new())
    }

    /// Tries to lock the renewal of a credential across all processes that use the store; `None` if
    /// another one holds the lock. The system must release the lock of a killed process.
    fn try_lock(&self, id: &str) -> Result<Option<CredentialLock>, CredentialStoreError> {
        let _ = id;
        Ok(Some(CredentialLock::none()))
    }

    /// Tells whether [`find`](Self::find) and [`try_lock`](Self::try_lock) may wait for another
    /// process or a person.
    fn may_block(&self) -> bool {
        false
    }
}

/// A credential and its reference in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredCredential {
    /// The reference.
    pub id: String,
    /// The credential.
    pub credential: Credential,
    /// Whether it has only the token: what its renewal needs must be looked up with
    /// [`find_whole`](CredentialStore::find_whole).
    pub is_partial: bool,
}

impl StoredCredential {
    /// Makes one.
    pub fn new(id: impl Into<String>, credential: Credential) -> Self {
        Self { id: id.into(), credential, is_partial: false }
    }

    /// Makes one that has only the token.
    pub fn without_renewal(id: impl Into<String>, credential: Credential) -> Self {
        Self { id: id.into(), credential, is_partial: true }
    }
}

/// Holds the lock of a credential until it is dropped.
pub struct CredentialLock {
    _guard: Option<Box<dyn Any + Send>>,
}

impl CredentialLock {
    /// Wraps the guard of a store, whose drop releases the lock.
    pub fn new(guard: impl Any + Send) -> Self {
        Self { _guard: Some(Box::new(guard)) }
    }

    /// Makes the lock of a store that no other process uses.
    pub fn none() -> Self {
        Self { _guard: None }
    }
}

impl fmt::Debug for CredentialLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialLock").finish_non_exhaustive()
    }
}

/// Which credential to look up.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct CredentialQuery<'a> {
    /// The reference in the entry. Without one, the address and the account decide.
    pub id: Option<&'a str>,
    /// The address of the server, without user information and fragment; none for a program.
    pub resource: Option<&'a str>,
    /// The account, where the entry names one.
    pub account: Option<&'a str>,
}

impl<'a> CredentialQuery<'a> {
    /// Makes a query.
    pub fn new(id: Option<&'a str>, resource: Option<&'a str>, account: Option<&'a str>) -> Self {
        Self { id, resource, account }
    }
}

/// Omits the query, which may contain keys.
impl fmt::Debug for CredentialQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialQuery")
            .field("id", &self.id)
            .field("resource", &self.resource.map(without_query))
            .field("account", &self.account)
            .finish()
    }
}

/// Renders the address of a credential without its query, which may contain keys.
pub(crate) fn without_query(resource: &str) -> String {
    resource.parse::<ServerUrl>().map_or_else(|_| redact_url(resource), |url| url.to_string())
}

/// Why a store could not be used. The message is shown, so it must not contain a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CredentialStoreError {
    message: String,
    is_read_only: bool,
}

impl CredentialStoreError {
    /// Makes an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_read_only: false }
    }

    /// Makes the error of a store that cannot store anything.
    pub fn read_only() -> Self {
        Self { message: "the credential store is read-only".to_owned(), is_read_only: true }
    }

    /// Tells whether the store never stores anything.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }
}

impl From<CredentialError> for CredentialStoreError {
    fn from(error: CredentialError) -> Self {
        Self::new(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_a_credential_query_hides_the_query_string() {
        let wanted = CredentialQuery::new(Some("c"), Some("https://a.example/?key=hunter2"), None);
        let rendered = format!("{wanted:?}");
        let shown = if cfg!(feature = "http") {
            "https://a.example/?•••"
        } else {
            "https://•••"
        };
        assert!(rendered.contains(shown) && !rendered.contains("hunter2"), "{rendered}");
    }
}
