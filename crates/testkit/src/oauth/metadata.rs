//! The metadata documents of the resource (RFC 9728) and of the authorization server (RFC 8414 and
//! `OpenID` Connect Discovery).

use serde_json::{Value, json};

use super::options::OAuthServerOptions;
use super::server::OAuthAddresses;

/// Returns the metadata of the protected resource.
pub(super) fn resource(addresses: OAuthAddresses, options: &OAuthServerOptions) -> Value {
    let mut metadata = json!({
        "resource": addresses.resource(),
        "authorization_servers": [addresses.issuer(options)],
        "bearer_methods_supported": ["header"],
    });
    if !options.scopes_supported.is_empty() {
        metadata["scopes_supported"] = json!(options.scopes_supported);
    }
    metadata
}

/// Returns the metadata of the authorization server.
pub(super) fn server(addresses: OAuthAddresses, options: &OAuthServerOptions) -> Value {
    let issuer = addresses.issuer(options);
    let origin = addresses.server_origin(options);
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "device_authorization_endpoint": format!("{origin}/device"),
        "revocation_endpoint": format!("{origin}/revoke"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "grant_types_supported": [
            "authorization_code",
            "refresh_token",
            "client_credentials",
            "urn:ietf:params:oauth:grant-type:device_code",
            "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
    });
    if options.registration {
        metadata["registration_endpoint"] = json!(format!("{origin}/register"));
    }
    if options.client_id_documents {
        metadata["client_id_metadata_document_supported"] = json!(true);
    }
    if options.sends_issuer {
        metadata["authorization_response_iss_parameter_supported"] = json!(true);
    }
    if !options.scopes_supported.is_empty() {
        metadata["scopes_supported"] = json!(options.scopes_supported);
    }
    metadata
}

/// Tells whether a path is that of an existing metadata document of the authorization server.
pub(super) fn is_server_metadata(path: &str, options: &OAuthServerOptions) -> bool {
    let issuer = &options.issuer_path;
    let oauth = options.has_oauth_metadata
        && path == format!("/.well-known/oauth-authorization-server{issuer}");
    let openid = options.has_openid_metadata
        && (path == format!("/.well-known/openid-configuration{issuer}")
            || path == format!("{issuer}/.well-known/openid-configuration"));
    oauth || openid
}
