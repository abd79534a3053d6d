//! Dynamic client registration (RFC 7591).

use serde_json::{Value, json};

use super::options::RegisteredClient;
use super::request::OAuthRequest;
use super::server::OAuthShared;
use super::token::OAuthRefusal;

/// Registers a client.
pub(super) fn register(
    shared: &OAuthShared,
    request: &OAuthRequest,
) -> Result<Value, OAuthRefusal> {
    let mut metadata = request.json();
    let redirect_uris: Option<Vec<String>> = metadata["redirect_uris"]
        .as_array()
        .map(|uris| uris.iter().filter_map(|uri| uri.as_str().map(str::to_owned)).collect());
    let redirect_uris = redirect_uris.unwrap_or_default();
    if !shared.options.registration || !metadata.is_object() {
        return Err((400, "invalid_client_metadata"));
    }
    let uses_redirects = metadata["grant_types"]
        .as_array()
        .is_none_or(|grants| grants.iter().any(|grant| grant == "authorization_code"));
    if uses_redirects && redirect_uris.is_empty() {
        return Err((400, "invalid_redirect_uri"));
    }
    let mut state = shared.state();
    let id = state.unique("client");
    let wants_secret = metadata["token_endpoint_auth_method"] != "none"
        || shared.options.registered_clients_have_secrets;
    let secret = wants_secret.then(|| state.secret("client-secret"));
    metadata["client_id"] = json!(id);
    if let Some(secret) = &secret {
        metadata["client_secret"] = json!(secret);
        metadata["client_secret_expires_at"] = json!(0);
        if metadata["token_endpoint_auth_method"] == "none" {
            metadata["token_endpoint_auth_method"] = json!("client_secret_basic");
        }
    }
    state.clients.push(RegisteredClient { id, secret, redirect_uris });
    Ok(metadata)
}
