//! Metadata, pages and responses that lie: a clear refusal, nothing stored, nothing sent to somebody
//! else.

use serde_json::{Value, json};
use wharf::auth::{MetadataFlaw, SignInError, SignInOptions};
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint};

use super::world::{Person, World, short, sign_in};

/// Signs in while an endpoint misbehaves, and returns the error.
async fn refused(
    world: &World,
    endpoint: OAuthEndpoint,
    how: Misbehavior,
    person: &Person,
) -> SignInError {
    let before = world.stored_text();
    world.server.misbehave(endpoint, how);
    let error = sign_in(world, &short(), person).await.unwrap_err();
    world.server.behave();
    assert_eq!(world.stored_text(), before, "the store was changed: {error}");
    world.check_no_leak(&format!("{error} {error:?} {:?}", person.steps()));
    error
}

async fn with_edit(
    endpoint: OAuthEndpoint,
    edit: impl Fn(&mut Value) + Send + Sync + 'static,
) -> SignInError {
    let world = World::new();
    let error = refused(&world, endpoint, Misbehavior::edit(edit), &Person::pasting()).await;
    assert_eq!(world.server.token_requests("authorization_code"), 0, "{error}");
    error
}

fn flaw(error: SignInError) -> MetadataFlaw {
    match error {
        SignInError::InvalidMetadata { flaw, .. } => flaw,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn metadata_about_another_server_or_issuer_are_refused() {
    let endpoint = OAuthEndpoint::ResourceMetadata;
    let other = "https://evil.example/mcp";
    let error = with_edit(endpoint, move |it| it["resource"] = other.into()).await;
    assert_eq!(flaw(error), MetadataFlaw::Resource { found: other.to_owned() });
    let endpoint = OAuthEndpoint::ServerMetadata;
    let error = with_edit(endpoint, |it| it["issuer"] = "https://evil.example".into()).await;
    assert!(
        matches!(flaw(error), MetadataFlaw::Issuer { found, .. } if found == "https://evil.example")
    );
}

#[tokio::test]
async fn addresses_that_are_not_safe_are_refused() {
    for address in [
        "javascript:alert(1)",
        "http://evil.example/authorize",
        "file:///etc/passwd",
        "https://user:password@evil.example/",
    ] {
        let field = "authorization_endpoint";
        let edit = move |it: &mut Value| it[field] = address.into();
        let error = with_edit(OAuthEndpoint::ServerMetadata, edit).await;
        assert_eq!(flaw(error), MetadataFlaw::Address { field }, "{address}");
    }
    let edit = |it: &mut Value| it["token_endpoint"] = "http://192.168.1.1/token".into();
    let error = with_edit(OAuthEndpoint::ServerMetadata, edit).await;
    assert_eq!(flaw(error), MetadataFlaw::Address { field: "token_endpoint" });
}

#[tokio::test]
async fn an_issuer_without_pkce_is_refused() {
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        let edit = move |it: &mut Value| it["code_challenge_methods_supported"] = methods.clone();
        let error = with_edit(OAuthEndpoint::ServerMetadata, edit).await;
        assert_eq!(flaw(error), MetadataFlaw::NoPkce);
    }
}

#[tokio::test]
async fn the_answer_of_a_page_must_be_to_this_sign_in_and_from_its_issuer() {
    let endpoint = OAuthEndpoint::Authorize;
    let rejected = |error: SignInError| error.to_string();
    let error = with_edit(endpoint, |it| it["iss"] = "https://evil.example".into()).await;
    assert!(rejected(error).ends_with("it comes from another issuer"));
    let error = with_edit(endpoint, |it| it["iss"] = Value::Null).await;
    assert!(rejected(error).ends_with("it does not name its issuer"));
    // An answer to another sign-in is ignored, and the wait goes on.
    let error = with_edit(endpoint, |it| it["state"] = "other".into()).await;
    assert!(matches!(error, SignInError::TimedOut { .. }), "{error:?}");
    let refuse = |it: &mut Value| {
        it["error"] = "access_denied".into();
        it["code"] = Value::Null;
    };
    let error = with_edit(endpoint, refuse).await;
    assert!(matches!(&error, SignInError::Refused(it) if it.code == "access_denied"), "{error:?}");
}

#[tokio::test]
async fn responses_that_are_too_large_or_lead_in_circles_end_the_sign_in() {
    for endpoint in [OAuthEndpoint::ResourceMetadata, OAuthEndpoint::ServerMetadata] {
        let world = World::new();
        let error =
            refused(&world, endpoint, Misbehavior::Huge(10 << 20), &Person::default()).await;
        assert!(matches!(error, SignInError::Http(_)), "{error:?}");
        let looped = refused(&world, endpoint, Misbehavior::RedirectLoop, &Person::default()).await;
        assert!(matches!(looped, SignInError::NotDiscovered { .. }), "{looped:?}");
        let aborted = refused(&world, endpoint, Misbehavior::Abort, &Person::default()).await;
        assert!(aborted.is_transient(), "{aborted:?}");
    }
}

#[tokio::test]
async fn a_refusal_names_the_addresses_that_were_tried() {
    let world = World::new();
    let gone = Misbehavior::Answer(404, "text/html", "<p>not here".to_owned());
    let endpoint = OAuthEndpoint::ServerMetadata;
    let error = refused(&world, endpoint, gone, &Person::default()).await;
    let SignInError::NotDiscovered { tried } = error else { panic!("{error:?}") };
    let tried: Vec<String> = tried.iter().map(ToString::to_string).collect();
    let issuer = world.server.issuer();
    let expected = [
        format!("{issuer}/.well-known/oauth-authorization-server (status 404)"),
        format!("{issuer}/.well-known/openid-configuration (status 404)"),
    ];
    assert_eq!(tried, expected);
}

#[tokio::test]
async fn token_responses_that_cannot_be_used_store_nothing() {
    let error = json!({ "error": "invalid_grant", "error_description": "no" });
    let endpoint = OAuthEndpoint::Token;
    let check = async |how: Misbehavior, is_expected: fn(&SignInError) -> bool| {
        let world = World::new();
        // An earlier sign-in stays as it is.
        sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
        let error = refused(&world, endpoint, how, &Person::default()).await;
        assert!(is_expected(&error), "{error:?}");
    };
    let is_invalid = |error: &SignInError| matches!(error, SignInError::InvalidResponse { .. });
    check(Misbehavior::json(200, &error), |it| matches!(it, SignInError::Refused(_))).await;
    check(Misbehavior::json(200, &json!({})), is_invalid).await;
    check(Misbehavior::edit(|it| it["access_token"] = "a\nb".into()), is_invalid).await;
    check(Misbehavior::edit(|it| it["token_type"] = "mac".into()), is_invalid).await;
    let gateway = Misbehavior::Answer(502, "text/html", String::new());
    check(gateway, SignInError::is_transient).await;
    check(Misbehavior::Huge(10 << 20), |it| matches!(it, SignInError::Http(_))).await;
}

#[tokio::test]
async fn a_redirect_of_the_token_endpoint_is_not_followed() {
    let world = World::new();
    let to = format!("{}/token", world.server.other_origin());
    let redirect = Misbehavior::Redirect(to);
    let error = refused(&world, OAuthEndpoint::Token, redirect, &Person::default()).await;
    assert!(matches!(error, SignInError::Status { status: 307, .. }), "{error:?}");
}

#[tokio::test]
async fn an_absurd_lifetime_does_not_break_a_sign_in() {
    for lifetime in [json!(-5), json!("soon"), json!(u64::MAX), Value::Null] {
        let world = World::new();
        world.server.misbehave(
            OAuthEndpoint::Token,
            Misbehavior::edit(move |it| it["expires_in"] = lifetime.clone()),
        );
        sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
        let runtime = world.runtime().await;
        assert_eq!(runtime.status(super::world::SERVER), Some(wharf::Status::Connected));
        runtime.shutdown().await;
    }
}

#[tokio::test]
async fn an_issuer_that_registers_nobody_needs_a_client_id() {
    let options = wharf_testkit::oauth::OAuthServerOptions {
        registration: false,
        ..wharf_testkit::oauth::OAuthServerOptions::default()
    };
    let world = World::with(options);
    let error = sign_in(&world, &short(), &Person::default()).await.unwrap_err();
    assert!(matches!(error, SignInError::ClientIdNeeded { .. }), "{error:?}");
}
