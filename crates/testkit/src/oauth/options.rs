//! What an authorization server supports, and what its resource demands.

use std::time::Duration;

/// The options of an [`OAuthServer`](super::OAuthServer); by default it supports everything.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a feature that a server may have")]
pub struct OAuthServerOptions {
    /// The path of the issuer, such as `/tenant`; empty for an issuer without a path.
    pub issuer_path: String,
    /// Which metadata documents of the authorization server exist.
    pub has_oauth_metadata: bool,
    /// Whether the metadata of `OpenID` Connect exists.
    pub has_openid_metadata: bool,
    /// Whether the resource names its authorization server, as servers since 2025-06-18 do.
    /// Without it, the authorization server is at the origin of the resource.
    pub has_resource_metadata: bool,
    /// Whether clients can register.
    pub registration: bool,
    /// Whether a client id may be the address of a metadata document.
    pub client_id_documents: bool,
    /// The clients that are known from the start.
    pub clients: Vec<RegisteredClient>,
    /// Whether registered clients get a secret.
    pub registered_clients_have_secrets: bool,
    /// The lifetime of access tokens.
    pub access_token_lifetime: Duration,
    /// Whether refresh tokens are issued.
    pub refresh_tokens: bool,
    /// Whether authorization responses have `iss`.
    pub sends_issuer: bool,
    /// Whether the resource demands a token; without it, everybody may use it.
    pub demands_token: bool,
    /// The scope that each request to the resource needs.
    pub required_scope: Option<String>,
    /// The scopes that calls of some tools need in addition: name of the tool, scope.
    pub tool_scopes: Vec<(String, String)>,
    /// The scopes in the metadata.
    pub scopes_supported: Vec<String>,
    /// How often the device grant answers that the person has not confirmed yet.
    pub device_polls_before_approval: u32,
    /// The seconds between two polls of the device grant.
    pub device_interval: u64,
    /// Assertions that the grant `jwt-bearer` accepts, in addition to those of the token exchange.
    pub accepted_assertions: Vec<String>,
}

impl Default for OAuthServerOptions {
    fn default() -> Self {
        Self {
            issuer_path: String::new(),
            has_oauth_metadata: true,
            has_openid_metadata: true,
            has_resource_metadata: true,
            registration: true,
            client_id_documents: false,
            clients: Vec::new(),
            registered_clients_have_secrets: false,
            access_token_lifetime: Duration::from_secs(3600),
            refresh_tokens: true,
            sends_issuer: true,
            demands_token: true,
            required_scope: None,
            tool_scopes: Vec::new(),
            scopes_supported: Vec::new(),
            device_polls_before_approval: 1,
            device_interval: 1,
            accepted_assertions: Vec::new(),
        }
    }
}

/// A client that the authorization server knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
    /// The redirect URIs that it may use. The port of a loopback address may differ (RFC 8252).
    pub redirect_uris: Vec<String>,
}

impl RegisteredClient {
    /// Makes a client with a secret and any loopback redirect URI.
    pub fn confidential(id: &str, secret: &str) -> Self {
        Self { secret: Some(secret.to_owned()), ..Self::public(id) }
    }

    /// Makes a client without a secret, with any loopback redirect URI.
    pub fn public(id: &str) -> Self {
        Self { id: id.to_owned(), secret: None, redirect_uris: Vec::new() }
    }

    /// Tells whether an authorization response may go to this address.
    pub(super) fn allows_redirect(&self, address: &str) -> bool {
        let Ok(wanted) = url::Url::parse(address) else { return false };
        let is_loopback = matches!(wanted.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
        if self.redirect_uris.is_empty() {
            return is_loopback;
        }
        self.redirect_uris.iter().any(|known| {
            let Ok(known) = url::Url::parse(known) else { return false };
            let same_place = known.scheme() == wanted.scheme()
                && known.host_str() == wanted.host_str()
                && known.path() == wanted.path()
                && known.query() == wanted.query();
            same_place && (is_loopback || known.port() == wanted.port())
        })
    }
}
