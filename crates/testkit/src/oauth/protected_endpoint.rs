//! The MCP server, which demands a token and its scopes before anything else (RFC 6750).

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use serde_json::{Value, json};
use tower_service::Service as _;

use super::misbehavior::{Misbehavior, answer};
use super::request::OAuthRequest;
use super::server::OAuthShared;

/// Answers a request to the MCP server.
pub(super) async fn serve(
    shared: &OAuthShared,
    parts: http::request::Parts,
    request: &OAuthRequest,
    misbehavior: Option<&Misbehavior>,
) -> Response {
    if let Err((status, mut challenge)) = check(shared, request) {
        if let Some(misbehavior) = misbehavior {
            misbehavior.change(&mut challenge);
        }
        let mut refusal = answer(status, "text/plain", Body::from("sign in first"));
        if let Some(value) = challenge_header(&challenge) {
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
        return refusal;
    }
    let forwarded = http::Request::from_parts(parts, Body::from(request.body.clone()));
    let mut router = shared.router.clone();
    let Ok(response) = router.call(forwarded).await;
    response
}

/// Checks the token; returns the status and the parameters of the challenge.
fn check(shared: &OAuthShared, request: &OAuthRequest) -> Result<(), (u16, Value)> {
    if !shared.options.demands_token {
        return Ok(());
    }
    let mut challenge = json!({});
    if shared.options.has_resource_metadata {
        challenge["resource_metadata"] = json!(shared.addresses.resource_metadata());
    }
    let needed = scopes_for(shared, request);
    if !needed.is_empty() {
        challenge["scope"] = json!(needed.join(" "));
    }
    let Some((scheme, token)) = request.authorization() else { return Err((401, challenge)) };
    let state = shared.state();
    let grant = state.grant_of(token).filter(|grant| {
        // A token without a resource is from a server that knows only one.
        scheme == "bearer" && [shared.addresses.resource().as_str(), ""].contains(&&*grant.resource)
    });
    let Some(grant) = grant else {
        challenge["error"] = json!("invalid_token");
        return Err((401, challenge));
    };
    let has = |scope: &&str| grant.scope.split(' ').any(|own| own == *scope);
    if needed.iter().all(|scope| has(&scope.as_str())) {
        return Ok(());
    }
    challenge["error"] = json!("insufficient_scope");
    Err((403, challenge))
}

/// Returns the scopes that a request needs.
fn scopes_for(shared: &OAuthShared, request: &OAuthRequest) -> Vec<String> {
    let message = request.json();
    let tool = (message["method"] == "tools/call").then(|| message["params"]["name"].as_str());
    let of_tool = shared.options.tool_scopes.iter().filter(|(name, _)| Some(Some(&**name)) == tool);
    let own = shared.options.required_scope.iter();
    own.chain(of_tool.map(|(_, scope)| scope)).cloned().collect()
}

/// Returns the header of a challenge; bytes that a header cannot have stay out.
fn challenge_header(parameters: &Value) -> Option<HeaderValue> {
    let parameters = parameters.as_object()?.iter().filter_map(|(name, value)| {
        Some(format!("{name}=\"{}\"", value.as_str()?.replace(['"', '\r', '\n'], "")))
    });
    let parameters: Vec<String> = parameters.collect();
    let text = format!("Bearer {}", parameters.join(", "));
    HeaderValue::from_bytes(text.trim_end().as_bytes()).ok()
}
