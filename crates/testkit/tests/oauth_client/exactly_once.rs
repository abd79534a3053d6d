//! A call that met a 401 is made once more with the new token, and never twice.

use serde_json::json;
use wharf::CallErrorReason;
use wharf::auth::SignInOptions;
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint, OAuthServerOptions};

use super::world::{Person, SERVER, World};

#[tokio::test]
async fn a_call_with_an_expired_token_is_made_once_more() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    world.server.expire_access_tokens();
    let outcome = runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
    assert!(outcome.ok(), "{outcome:?}");
    assert_eq!(world.mcp_requests("tools/call"), 2);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_call_that_gets_a_401_twice_fails() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    world.server.misbehave(OAuthEndpoint::Mcp, Misbehavior::json(401, &json!({})));
    let outcome = runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
    let error = outcome.error.unwrap();
    assert_eq!((error.reason, error.outcome_known), (CallErrorReason::NeedsAuth, true));
    assert_eq!(world.mcp_requests("tools/call"), 2);
    assert_eq!(world.server.token_requests("refresh_token"), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_call_that_needs_another_scope_works_after_a_sign_in_with_all_scopes() {
    let options = OAuthServerOptions {
        required_scope: Some("read".to_owned()),
        tool_scopes: vec![("add".to_owned(), "write".to_owned())],
        ..OAuthServerOptions::default()
    };
    let world = World::with(options);
    let runtime = world.runtime().await;
    let person = Person::default();
    let sign_in = async || runtime.sign_in(SERVER, &SignInOptions::default(), &person.host()).await;
    assert_eq!(sign_in().await.unwrap().scopes, ["read"]);
    let call = async || runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
    let refused = call().await.error.unwrap();
    assert_eq!(refused.reason, CallErrorReason::NeedsAuth);
    let mut scopes = sign_in().await.unwrap().scopes;
    scopes.sort();
    assert_eq!(scopes, ["read", "write"]);
    assert!(call().await.ok());
    runtime.shutdown().await;
}
