//! Finds the credential of a server among all that are stored, and says what is stored without
//! the secrets.

use std::fmt;

use sha2::{Digest, Sha256};

use super::record::{Credential, render_resource};
use crate::secret::redact_url;
use crate::server_url::ServerUrl;
use crate::store::private_file;

/// What is known about a stored credential without its secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CredentialSummary {
    /// Its reference in the store.
    pub id: String,
    /// The address, or the launch identity of a program, that it is bound to.
    pub resource: String,
    /// Who issued it.
    pub issuer: Option<String>,
    /// The account it belongs to.
    pub account: Option<String>,
    /// Whether it was obtained with OAuth.
    pub is_oauth: bool,
    /// Whether it can be renewed without the person.
    pub is_renewable: bool,
    /// When the token expires, in seconds since 1970.
    pub expires_at: Option<u64>,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// Whether its secrets are in the keychain.
    pub is_in_keychain: bool,
}

impl CredentialSummary {
    /// Summarizes a credential.
    pub fn of(id: &str, credential: &Credential) -> Self {
        let grant = credential.oauth.as_deref();
        Self {
            id: id.to_owned(),
            resource: credential.resource.clone(),
            issuer: credential.issuer.clone(),
            account: credential.account.clone(),
            is_oauth: grant.is_some(),
            is_renewable: grant
                .is_some_and(|it| it.refresh_token.is_some() || !it.kind.needs_person()),
            expires_at: grant.and_then(|grant| grant.expires_at),
            scopes: grant.map(|grant| grant.scopes.clone()).unwrap_or_default(),
            is_in_keychain: false,
        }
    }

    /// Renders what it is bound to, with secrets redacted.
    pub fn render_resource(&self) -> String {
        render_resource(&self.resource)
    }
}

impl fmt::Debug for CredentialSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialSummary")
            .field("id", &self.id)
            .field("resource", &self.render_resource())
            .field("issuer", &self.issuer.as_deref().map(redact_url))
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}

/// Returns the reference under which a sign-in stores the credential of a server and an account:
/// the same in every process, so that two of them do not store two.
pub fn credential_id(resource: &str, account: Option<&str>) -> String {
    let mut hash = Sha256::new();
    hash.update(resource);
    hash.update([0]);
    hash.update(account.unwrap_or_default());
    let mut id = private_file::hex(&hash.finalize());
    id.truncate(32);
    id
}

/// Selects the credential of an address and an account among those of a store.
///
/// Without an account it is the one that has none, else the only one of the address: which of
/// several accounts is meant, only the person knows.
pub fn select_credential<'a>(
    stored: impl IntoIterator<Item = (&'a str, Credential)>,
    resource: &str,
    account: Option<&str>,
) -> Option<(&'a str, Credential)> {
    let of = |(_, it): &(&str, Credential)| (it.resource.clone(), it.account.clone());
    select(stored, of, resource, account)
}

/// Does the same among summaries.
pub fn select_summary(
    stored: impl IntoIterator<Item = CredentialSummary>,
    resource: &str,
    account: Option<&str>,
) -> Option<CredentialSummary> {
    let of = |it: &CredentialSummary| (it.resource.clone(), it.account.clone());
    select(stored, of, resource, account)
}

/// Selects by what `binding` returns: the address and the account.
fn select<T>(
    stored: impl IntoIterator<Item = T>,
    binding: impl Fn(&T) -> (String, Option<String>),
    resource: &str,
    account: Option<&str>,
) -> Option<T> {
    let is_bound = |bound_to: &str| {
        let url = bound_to.parse::<ServerUrl>().ok();
        url.and_then(|url| url.resource()).as_deref() == Some(resource)
    };
    let stored = stored.into_iter().map(|it| (binding(&it), it));
    let mut found: Vec<_> = stored.filter(|((bound_to, _), _)| is_bound(bound_to)).collect();
    let wanted = found.iter().position(|((_, own), _)| own.as_deref() == account);
    match (wanted, account) {
        (Some(at), _) => Some(found.swap_remove(at).1),
        (None, None) if found.len() == 1 => found.pop().map(|(_, it)| it),
        _ => None,
    }
}
