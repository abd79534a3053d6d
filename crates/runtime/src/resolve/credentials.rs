//! Checks that a server may use the credential that the store has for it.
//!
//! A credential is bound to an address and an account. An entry selects one by reference; because
//! the entry may be untrusted, the binding is checked here, whatever the store returns. A program
//! has no address to compare: one that the user configured gets the credential that its entry
//! names, one that a project defines never gets a credential.

use wharf_config::{Credential, LaunchCommand, Level, Transport};

use crate::credentials::{
    CredentialQuery, CredentialStoreError, StoreAccess, StoredCredential, binding, without_query,
};
use crate::trust_gate::TrustedServer;

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

/// Returns the credential that a server may use; `Ok(None)` if its entry names none and none is
/// stored.
pub(super) async fn find(
    server: &TrustedServer,
    store: &StoreAccess,
) -> Result<Option<StoredCredential>, CredentialUnavailable> {
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
    let id = spec.auth.as_ref().and_then(|auth| auth.credential_id.as_deref());
    let wanted = CredentialQuery::new(id, resource.as_deref(), spec.account.as_deref());
    let Some(found) = store.find(wanted).await.map_err(CredentialUnavailable::Store)? else {
        return if spec.auth.is_some() { Err(CredentialUnavailable::Missing) } else { Ok(None) };
    };
    check(&found.credential, &wanted)?;
    if let Transport::Stdio(launch) = &spec.transport
        && found.credential.resource.starts_with(LaunchCommand::IDENTITY_PREFIX)
        && found.credential.resource != launch.identity()
    {
        return Err(CredentialUnavailable::OtherProgram);
    }
    Ok(Some(found))
}

/// Checks that a credential is bound to this address and account.
fn check(found: &Credential, wanted: &CredentialQuery<'_>) -> Result<(), CredentialUnavailable> {
    if wanted.resource.is_some_and(|resource| !binding::is_for_resource(found, resource)) {
        return Err(CredentialUnavailable::OtherResource(found.resource.clone()));
    }
    if wanted.account.is_some_and(|account| found.account.as_deref() != Some(account)) {
        return Err(CredentialUnavailable::OtherAccount);
    }
    Ok(())
}
