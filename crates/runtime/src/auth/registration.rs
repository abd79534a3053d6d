//! Finds the client to sign in with: one that is configured, one that is registered already, the
//! client ID metadata document, or a new registration (RFC 7591), in this order.
//!
//! A client belongs to one issuer and one server; it is never used for another.

use serde_json::{Map, Value, json};
use url::Url;
use wharf_config::{ClientOrigin, Credential, OAuthClient, Secret};

use super::clock::now;
use super::discovery::Discovery;
use super::error::SignInError;
use super::keys::SigningKey;
use super::options::OAuthSettings;
use super::requests::{OAuthRequests, safe_url, shown};
use super::token::{fields, invalid, token};

/// How many characters a client id may have.
const MAX_ID: usize = 2048;

/// What a registration is for.
pub(super) struct Registration<'a> {
    pub(super) discovery: &'a Discovery,
    pub(super) settings: &'a OAuthSettings,
    /// The credential that is stored for the server.
    pub(super) stored: Option<&'a Credential>,
    /// The address of the callback, for a sign-in on a page.
    pub(super) redirect_uri: Option<&'a str>,
    pub(super) grants: &'a [&'a str],
    pub(super) scopes: &'a [String],
}

impl Registration<'_> {
    /// Finds a client that needs no request.
    pub(super) fn known(&self) -> Option<OAuthClient> {
        let issuer = &self.discovery.issuer;
        if let Some(id) = &self.settings.client_id {
            return Some(OAuthClient::new(id, ClientOrigin::Configured));
        }
        if issuer.takes_metadata_urls
            && let Some(url) = self.settings.client_metadata_url.as_deref().filter(is_document_url)
        {
            let mut client = OAuthClient::new(url, ClientOrigin::MetadataDocument);
            client.auth_method = Some("none".to_owned());
            return Some(client);
        }
        self.registered()
    }

    /// Returns the client of the stored credential, if the issuer still knows it.
    fn registered(&self) -> Option<OAuthClient> {
        let stored = self.stored?;
        let client = &stored.oauth.as_ref()?.client;
        let is_same_issuer = stored.issuer.as_ref() == Some(&self.discovery.issuer.issuer);
        let is_valid = client.secret_expires_at.is_none_or(|at| at == 0 || at > now());
        let is_same_redirect =
            self.redirect_uri.is_none() || client.redirect_uri.as_deref() == self.redirect_uri;
        let is_usable = client.origin == ClientOrigin::Registered
            && is_same_issuer
            && is_valid
            && is_same_redirect;
        is_usable.then(|| client.clone())
    }

    /// Registers a client.
    pub(super) async fn register(
        &self,
        requests: &OAuthRequests,
    ) -> Result<OAuthClient, SignInError> {
        let issuer = &self.discovery.issuer;
        let Some(endpoint) = &issuer.registration_endpoint else {
            return Err(SignInError::ClientIdNeeded { issuer: issuer.issuer.clone() });
        };
        let response = requests.post_json(endpoint, &self.request()).await?;
        if self.discovery.is_guessed && matches!(response.status, 404 | 405) {
            let tried = self.discovery.tried.clone();
            return Err(SignInError::NotDiscovered { tried });
        }
        self.read(endpoint, &fields(endpoint, response)?)
    }

    fn request(&self) -> Value {
        let accepts =
            |method: &str| self.discovery.issuer.auth_methods.iter().any(|it| it == method);
        let methods = ["none", "client_secret_basic", "client_secret_post"];
        let method = methods.into_iter().find(|method| accepts(method)).unwrap_or("none");
        let mut request = json!({
            "client_name": "Wharf",
            "application_type": "native",
            "grant_types": self.grants,
            "token_endpoint_auth_method": method,
        });
        if let Some(redirect) = self.redirect_uri {
            request["redirect_uris"] = json!([redirect]);
            request["response_types"] = json!(["code"]);
        } else {
            // Without them, an issuer expects a client with redirects (RFC 7591, section 2).
            request["redirect_uris"] = json!([]);
            request["response_types"] = json!([]);
        }
        if !self.scopes.is_empty() {
            request["scope"] = self.scopes.join(" ").into();
        }
        request
    }

    fn read(
        &self,
        endpoint: &Url,
        fields: &Map<String, Value>,
    ) -> Result<OAuthClient, SignInError> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let id = text("client_id").filter(|id| {
            !id.is_empty()
                && id.len() <= MAX_ID
                && id.bytes().all(|byte| matches!(byte, 0x20..0x7f))
        });
        let id = id.ok_or_else(|| invalid(endpoint, "it has no client id"))?;
        let secret = |name| token(fields, name).map_err(|reason| invalid(endpoint, reason));
        let mut client = OAuthClient::new(id, ClientOrigin::Registered);
        client.secret = secret("client_secret")?;
        client.secret_expires_at = fields.get("client_secret_expires_at").and_then(Value::as_u64);
        client.auth_method = text("token_endpoint_auth_method").map(str::to_owned);
        client.redirect_uri = self.redirect_uri.map(str::to_owned);
        client.registration_token = secret("registration_access_token")?;
        let uri = text("registration_client_uri").and_then(safe_url);
        client.registration_uri = uri.map(|uri| shown(&uri));
        Ok(client)
    }
}

/// Tells whether an address can be a client id: `https`, with a path.
fn is_document_url(text: &&str) -> bool {
    safe_url(text).is_some_and(|url| url.scheme() == "https" && url.path() != "/")
}

/// Returns the secret of the configuration, if it belongs to the client.
pub(super) fn configured_secret<'a>(
    client: &OAuthClient,
    settings: &'a OAuthSettings,
) -> Option<&'a Secret> {
    let is_own = client.origin == ClientOrigin::Configured
        && settings.client_id.as_ref() == Some(&client.id);
    settings.client_secret.as_ref().filter(|_| is_own)
}

/// Returns the key of the configuration, if it belongs to the client: it signs for no other one.
pub(super) fn configured_key<'a>(
    client: &OAuthClient,
    settings: &'a OAuthSettings,
) -> Option<&'a SigningKey> {
    settings.client_key.as_ref().filter(|_| client.origin == ClientOrigin::Configured)
}
