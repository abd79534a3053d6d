//! The token endpoint with all its grants, and revocation.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::client_authentication::authenticate;
use super::device;
use super::options::RegisteredClient;
use super::request::OAuthRequest;
use super::server::OAuthShared;
use super::state::IssuedGrant;

/// Why a request is refused: the HTTP status, and the error code.
pub(super) type OAuthRefusal = (u16, &'static str);

/// The grants by their names in `grant_type`.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Answers a token request.
pub(super) fn token(shared: &OAuthShared, request: &OAuthRequest) -> Result<Value, OAuthRefusal> {
    let client = authenticate(&shared.state(), request).ok_or((401, "invalid_client"))?;
    match request.field("grant_type") {
        "authorization_code" => authorization_code(shared, request, &client),
        "refresh_token" => {
            let token = request.field("refresh_token");
            shared.state().refresh(token, &client.id).ok_or((400, "invalid_grant"))
        }
        "client_credentials" if client.secret.is_some() => {
            let grant = grant(shared, request, &client)?;
            Ok(shared.state().start_grant(grant, false))
        }
        DEVICE_CODE => device::poll(shared, request, &client),
        JWT_BEARER => jwt_bearer(shared, request, &client),
        TOKEN_EXCHANGE => Ok(token_exchange(shared)),
        "client_credentials" => Err((400, "unauthorized_client")),
        _ => Err((400, "unsupported_grant_type")),
    }
}

fn authorization_code(
    shared: &OAuthShared,
    request: &OAuthRequest,
    client: &RegisteredClient,
) -> Result<Value, OAuthRefusal> {
    let invalid = (400, "invalid_grant");
    let mut state = shared.state();
    let code = state.take_code(request.field("code")).ok_or(invalid)?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(request.field("code_verifier")));
    let is_valid = code.client_id == client.id
        && code.redirect_uri == request.field("redirect_uri")
        && code.code_challenge == challenge;
    if !is_valid {
        return Err(invalid);
    }
    if code.resource != request.field("resource") {
        return Err((400, "invalid_target"));
    }
    let grant = IssuedGrant {
        client_id: code.client_id,
        scope: code.scope,
        resource: code.resource,
        is_revoked: false,
    };
    Ok(state.start_grant(grant, true))
}

/// Accepts an assertion of another issuer (RFC 7523).
fn jwt_bearer(
    shared: &OAuthShared,
    request: &OAuthRequest,
    client: &RegisteredClient,
) -> Result<Value, OAuthRefusal> {
    let grant = grant(shared, request, client)?;
    let mut state = shared.state();
    if !state.assertions.contains(request.field("assertion")) {
        return Err((400, "invalid_grant"));
    }
    Ok(state.start_grant(grant, false))
}

/// Exchanges the token of a person for an assertion (RFC 8693), as an identity provider does.
fn token_exchange(shared: &OAuthShared) -> Value {
    let mut state = shared.state();
    let assertion = state.secret("assertion");
    state.assertions.insert(assertion.clone());
    json!({
        "access_token": assertion,
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "token_type": "N_A",
        "expires_in": 300,
    })
}

/// Returns the grant that a client asks for itself.
fn grant(
    shared: &OAuthShared,
    request: &OAuthRequest,
    client: &RegisteredClient,
) -> Result<IssuedGrant, OAuthRefusal> {
    let resource = request.field("resource");
    if !resource.is_empty() && resource != shared.addresses.resource() {
        return Err((400, "invalid_target"));
    }
    Ok(IssuedGrant {
        client_id: client.id.clone(),
        scope: request.field("scope").to_owned(),
        resource: shared.addresses.resource(),
        is_revoked: false,
    })
}

/// Revokes a token (RFC 7009): also an unknown token is a success.
pub(super) fn revoke(shared: &OAuthShared, request: &OAuthRequest) -> Result<Value, OAuthRefusal> {
    let mut state = shared.state();
    authenticate(&state, request).ok_or((401, "invalid_client"))?;
    state.revoke(request.field("token"));
    Ok(json!({}))
}
