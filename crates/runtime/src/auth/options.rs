//! The choices of a sign-in, and what an entry or a program says about its OAuth client.

use std::fmt;
use std::time::Duration;

use wharf_config::{GrantKind, OAuth, Secret, WrittenText};

use super::keys::SigningKey;

/// How long a person may take to sign in.
pub const SIGN_IN_LIMIT: Duration = Duration::from_secs(300);

/// The choices of one sign-in.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SignInOptions {
    /// How the person signs in.
    pub method: SignInMethod,
    /// The account to sign in to; a name for the person's own use, which selects the credential.
    pub account: Option<String>,
    /// The scopes to request, instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// How long the person may take, instead of [`SIGN_IN_LIMIT`].
    pub limit: Option<Duration>,
}

/// How the person signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SignInMethod {
    /// As the entry says; else on a page, which the browser opens.
    #[default]
    Automatic,
    /// On a page, which the person opens.
    PageWithoutBrowser,
    /// With a code that the person enters on another device.
    DeviceCode,
}

/// What is known about the OAuth client before signing in, from an entry or a program.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OAuthSettings {
    /// The id of a client that the issuer knows already.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret>,
    /// The key with which that client authenticates (`private_key_jwt`).
    pub client_key: Option<SigningKey>,
    /// The address of the client ID metadata document.
    pub client_metadata_url: Option<String>,
    /// The only issuer to sign in at. Without it, the one that the server names; then secrets go
    /// there only after an earlier sign-in there, or one on its page, or if it is the server itself.
    pub issuer: Option<String>,
    /// Sends secrets to whatever issuer the server names: only for a server that may know them.
    pub accepts_named_issuer: bool,
    /// The scopes to request, instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The port of the callback; any free port without it.
    pub callback_port: Option<u16>,
    /// The redirect address that is registered. If it is not on this machine, the person pastes the
    /// address of the last page.
    pub redirect_uri: Option<String>,
    /// The grant. Without it, the one for which there is an assertion or an identity provider; else
    /// the authorization code.
    pub grant: Option<GrantKind>,
    /// An assertion about the workload of this program, for [`GrantKind::JwtBearer`].
    pub assertion: Option<Secret>,
    /// The identity provider that vouches for the person, for [`GrantKind::EnterpriseManaged`].
    pub identity_provider: Option<IdentityProvider>,
}

/// An identity provider of an organization, and the person's sign-in there.
#[derive(Clone, PartialEq, Eq)]
pub struct IdentityProvider {
    /// Where the ID token is exchanged.
    pub token_endpoint: String,
    /// The id of this program's client at the identity provider.
    pub client_id: String,
    /// The secret of that client.
    pub client_secret: Option<Secret>,
    /// The ID token of the person.
    pub id_token: Secret,
}

impl OAuthSettings {
    /// Returns the grant that needs no person, if that is the one to use.
    pub(super) fn grant_without_person(&self) -> Option<GrantKind> {
        match self.grant {
            Some(grant) => Some(grant).filter(|grant| !grant.needs_person()),
            None if self.assertion.is_some() => Some(GrantKind::JwtBearer),
            None if self.identity_provider.is_some() => Some(GrantKind::EnterpriseManaged),
            None => None,
        }
    }

    /// Takes what an entry says. Fields of an entry are expanded.
    pub(crate) fn of_entry(oauth: Option<&OAuth>) -> Self {
        let Some(oauth) = oauth else { return Self::default() };
        let text = |written: &Option<WrittenText>| {
            written.as_ref().map(|it| it.text.clone()).filter(|text| !text.is_empty())
        };
        let scopes = oauth.scope.as_deref().map(split_scopes);
        Self {
            client_id: text(&oauth.client_id),
            client_secret: text(&oauth.client_secret).map(Secret::new),
            client_metadata_url: oauth.client_metadata_url.clone(),
            issuer: oauth.issuer.clone().filter(|issuer| !issuer.is_empty()),
            scopes: scopes.filter(|scopes| !scopes.is_empty()),
            callback_port: oauth.callback_port,
            redirect_uri: oauth.redirect_uri.clone(),
            grant: oauth.grant.as_deref().and_then(GrantKind::from_word),
            ..Self::default()
        }
    }
}

/// Splits a list of scopes.
pub(super) fn split_scopes(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// How many bytes the scopes of one list may have together.
const MAX_SCOPES: usize = 4096;

/// Tells whether a text can be a scope (RFC 6749, appendix A.4).
pub(super) fn is_scope(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// Keeps the scopes that may be sent: no forbidden characters, and not too many.
pub(super) fn valid_scopes<'a>(scopes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut size = 0;
    let fits = |scope: &&str| {
        size += scope.len() + 1;
        size <= MAX_SCOPES
    };
    scopes.filter(|scope| is_scope(scope)).take_while(fits).map(str::to_owned).collect()
}

/// Shows which secrets are set.
impl fmt::Debug for OAuthSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthSettings")
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.is_some())
            .field("client_key", &self.client_key.is_some())
            .field("client_metadata_url", &self.client_metadata_url)
            .field("scopes", &self.scopes)
            .field("grant", &self.grant)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
