//! What a sign-in and a sign-out brought.

use wharf_config::Problem;

use crate::credentials::CredentialStoreError;

/// A sign-in that worked. It has no secrets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignedIn {
    /// The reference of the credential in the store.
    pub id: String,
    /// The issuer.
    pub issuer: String,
    /// The account that was named.
    pub account: Option<String>,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// When the token expires, in seconds since 1970.
    pub expires_at: Option<u64>,
    /// Whether the token is renewed without the person.
    pub is_renewable: bool,
    /// Why the credential was not stored; then it lives as long as the runtime.
    pub not_stored: Option<CredentialStoreError>,
    /// Rules of the specification that a server broke without harm.
    pub warnings: Vec<Problem>,
}

/// A sign-out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignedOut {
    /// The reference of the removed credential.
    pub id: String,
    /// Whether the issuer revoked the tokens.
    pub revocation: Revocation,
}

/// Whether the issuer revoked the tokens of a removed credential.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revocation {
    /// It did.
    Revoked,
    /// It offers no revocation, or the credential is a fixed token.
    NotOffered,
    /// It could not be asked, or refused; the tokens work until they expire.
    Failed {
        /// Why.
        reason: String,
    },
}
