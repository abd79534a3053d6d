//! The authorization endpoint: approves every valid request at once, with a redirect.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::misbehavior::{Misbehavior, answer, redirect};
use super::request::OAuthRequest;
use super::server::OAuthShared;
use super::state::AuthorizationCode;

/// Answers an authorization request.
pub(super) fn authorize(
    shared: &OAuthShared,
    request: &OAuthRequest,
    misbehavior: Option<&Misbehavior>,
) -> Response {
    let redirect_uri = request.parameter("redirect_uri");
    let client = shared.state().client(request.parameter("client_id"));
    // Without a known client and address, nothing is redirected (RFC 6749, 4.1.2.1).
    let Some(client) = client else { return refusal("unknown client") };
    if !client.allows_redirect(redirect_uri) {
        return refusal("the redirect URI is not registered");
    }
    let mut parameters = match check(shared, request) {
        Ok(()) => {
            let code = AuthorizationCode {
                client_id: client.id,
                redirect_uri: redirect_uri.to_owned(),
                code_challenge: request.parameter("code_challenge").to_owned(),
                scope: request.parameter("scope").to_owned(),
                resource: request.parameter("resource").to_owned(),
            };
            json!({ "code": shared.state().add_code(code) })
        }
        Err(error) => json!({ "error": error }),
    };
    if !request.parameter("state").is_empty() {
        parameters["state"] = json!(request.parameter("state"));
    }
    if shared.options.sends_issuer {
        parameters["iss"] = json!(shared.addresses.issuer(&shared.options));
    }
    if let Some(misbehavior) = misbehavior {
        misbehavior.change(&mut parameters);
    }
    match location(redirect_uri, &parameters) {
        Some(location) => redirect(StatusCode::FOUND, &location),
        None => refusal("the redirect URI is not an address"),
    }
}

/// Checks what the client must send; returns the error code.
fn check(shared: &OAuthShared, request: &OAuthRequest) -> Result<(), &'static str> {
    if request.parameter("response_type") != "code" {
        return Err("unsupported_response_type");
    }
    if request.parameter("code_challenge_method") != "S256"
        || request.parameter("code_challenge").len() != 43
    {
        return Err("invalid_request");
    }
    let resource = request.parameter("resource");
    if shared.options.has_resource_metadata && resource != shared.addresses.resource() {
        return Err("invalid_target");
    }
    Ok(())
}

fn location(redirect_uri: &str, parameters: &Value) -> Option<String> {
    let mut location = url::Url::parse(redirect_uri).ok()?;
    for (name, value) in parameters.as_object()? {
        if let Some(value) = value.as_str() {
            location.query_pairs_mut().append_pair(name, value);
        }
    }
    Some(location.into())
}

fn refusal(why: &'static str) -> Response {
    answer(400, "text/plain", why.into())
}
