//! Finds the credential of a server in the credential store, and checks that the server may use
//! it.
//!
//! A credential is bound to an address and an account. An entry selects one by reference; because
//! the entry may be untrusted, the binding is checked here, whatever the store returns. A program
//! has no address to compare: one that the user configured gets the credential that its entry
//! names, one that a project defines never gets a credential.

use std::fmt;
use std::sync::Arc;

use wharf_config::secret::redact_url;
use wharf_config::{
    Credential, CredentialError, Credentials, Env, LaunchCommand, Level, Secret, ServerUrl,
    Transport,
};

use crate::trust_gate::TrustedServer;

/// A store of tokens.
///
/// ```
/// use wharf::{Credential, CredentialQuery, CredentialStore, CredentialStoreError, Secret};
///
/// /// Has one token, for one server.
/// struct OneToken(Secret);
///
/// impl CredentialStore for OneToken {
///     fn find(
///         &self,
///         wanted: &CredentialQuery<'_>,
///     ) -> Result<Option<Credential>, CredentialStoreError> {
///         let resource = "https://mcp.example.com/";
///         Ok((wanted.resource == Some(resource)).then(|| Credential {
///             resource: resource.to_owned(),
///             issuer: None,
///             account: None,
///             token: self.0.clone(),
///         }))
///     }
/// }
/// ```
pub trait CredentialStore: Send + Sync + 'static {
    /// Looks up a credential. Called before each connection and after a 401, so it must be fast. A
    /// credential is used only for the address and account to which it is bound.
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<Credential>, CredentialStoreError>;
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
    /// Makes a query, for the tests of a store.
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

/// Why a store could not be read. The message is shown, so it must not contain a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CredentialStoreError {
    message: String,
}

impl CredentialStoreError {
    /// Makes an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl From<CredentialError> for CredentialStoreError {
    fn from(error: CredentialError) -> Self {
        Self::new(error.to_string())
    }
}

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
}

impl CredentialStore for FileCredentials {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<Credential>, CredentialStoreError> {
        let Some(id) = wanted.id else { return Ok(None) };
        Ok(Credentials::load(&self.env)?.get(id))
    }
}

/// Why the credential of an entry is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CredentialUnavailable {
    #[error("it is not in the store")]
    Missing,
    #[error("it is bound to {}", without_query(.0))]
    OtherResource(String),
    #[error("it is bound to another command, or to an earlier version of the entry")]
    OtherProgram,
    #[error("it is for another account")]
    OtherAccount,
    #[error("local programs defined by a project cannot use stored credentials")]
    ProjectProgram,
    #[error("the store cannot be read: {0}")]
    Store(CredentialStoreError),
}

impl CredentialUnavailable {
    /// Says what to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Missing => "store it again",
            Self::OtherResource(_) | Self::OtherAccount => {
                "refer to a credential for this address and account in \"auth\""
            }
            Self::OtherProgram => "store its token again",
            Self::ProjectProgram => {
                "define the server in your own file, or name a variable in \"env\""
            }
            Self::Store(_) => "check the file of the credentials",
        }
    }
}

/// Returns the token that a server may use; `Ok(None)` if its entry names none and none is stored.
pub(super) fn find_token(
    server: &TrustedServer,
    store: &dyn CredentialStore,
) -> Result<Option<Secret>, CredentialUnavailable> {
    let spec = &server.spec;
    let resource = match &spec.transport {
        Transport::Stdio(_) => None,
        // It has neither headers nor variables.
        Transport::Custom(_) => return Ok(None),
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            // An incomplete address gets no token.
            let Some(resource) = endpoint.url.resource() else { return Ok(None) };
            Some(resource)
        }
    };
    if resource.is_none() && spec.auth.is_none() {
        return Ok(None);
    }
    if resource.is_none() && server.level == Level::Project {
        return Err(CredentialUnavailable::ProjectProgram);
    }
    let wanted = CredentialQuery {
        id: spec.auth.as_ref().and_then(|auth| auth.credential_id.as_deref()),
        resource: resource.as_deref(),
        account: spec.account.as_deref(),
    };
    let Some(found) = store.find(&wanted).map_err(CredentialUnavailable::Store)? else {
        return if spec.auth.is_some() { Err(CredentialUnavailable::Missing) } else { Ok(None) };
    };
    check(&found, &wanted)?;
    if let Transport::Stdio(launch) = &spec.transport
        && found.resource.starts_with(LaunchCommand::IDENTITY_PREFIX)
        && found.resource != launch.identity()
    {
        return Err(CredentialUnavailable::OtherProgram);
    }
    Ok(Some(found.token))
}

/// Checks that a credential is bound to this address and account.
fn check(found: &Credential, wanted: &CredentialQuery<'_>) -> Result<(), CredentialUnavailable> {
    let bound_to = || found.resource.parse::<ServerUrl>().ok()?.resource();
    if wanted.resource.is_some() && bound_to().as_deref() != wanted.resource {
        return Err(CredentialUnavailable::OtherResource(found.resource.clone()));
    }
    if wanted.account.is_some_and(|account| found.account.as_deref() != Some(account)) {
        return Err(CredentialUnavailable::OtherAccount);
    }
    Ok(())
}

/// Renders the address of a credential without its query, which may contain keys.
fn without_query(resource: &str) -> String {
    resource.parse::<ServerUrl>().map_or_else(|_| redact_url(resource), |url| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_a_credential_query_hides_the_query_string() {
        let wanted = CredentialQuery {
            id: Some("c"),
            resource: Some("https://a.example/?key=hunter2"),
            account: None,
        };
        let rendered = format!("{wanted:?}");
        let shown = if cfg!(feature = "http") {
            "https://a.example/?•••"
        } else {
            "https://•••"
        };
        assert!(rendered.contains(shown) && !rendered.contains("hunter2"), "{rendered}");
    }
}
