//! Grants that need no person: the server is connected without a sign-in.

use std::collections::BTreeMap;

use wharf::auth::OAuthSettings;
use wharf::config::GrantKind;
use wharf::{Options, Secret, ServerName, Status};
use wharf_testkit::oauth::{OAuthServerOptions, RegisteredClient};

use super::world::{SERVER, World};

async fn status(world: &World, settings: OAuthSettings) -> Option<Status> {
    let mut settings = settings;
    settings.issuer = Some(world.server.issuer());
    let oauth = BTreeMap::from([(ServerName::new(SERVER), settings)]);
    let runtime = world.runtime_with(Options { oauth, ..world.options() }).await;
    let status = runtime.status(SERVER);
    runtime.shutdown().await;
    status
}

fn settings(grant: GrantKind) -> OAuthSettings {
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("machine".to_owned());
    settings.client_secret = Some(Secret::new("machine-secret"));
    settings.grant = Some(grant);
    settings
}

fn world(accepted_assertions: Vec<String>) -> World {
    let clients = vec![RegisteredClient::confidential("machine", "machine-secret")];
    World::with(OAuthServerOptions {
        clients,
        accepted_assertions,
        ..OAuthServerOptions::default()
    })
}

#[tokio::test]
async fn a_program_signs_in_with_its_own_secret_and_again_when_the_token_has_expired() {
    let world = world(Vec::new());
    let own = || settings(GrantKind::ClientCredentials);
    assert_eq!(status(&world, own()).await, Some(Status::Connected));
    let stored = world.stored().unwrap();
    assert!(!world.stored_text().contains("machine-secret"), "{stored:?}");
    // The stored token is used while it is valid.
    assert_eq!(status(&world, own()).await, Some(Status::Connected));
    assert_eq!(world.server.token_requests("client_credentials"), 1);
    world.server.expire_access_tokens();
    assert_eq!(status(&world, own()).await, Some(Status::Connected));
    assert_eq!(world.server.token_requests("client_credentials"), 2);
}

#[tokio::test]
async fn a_workload_presents_its_assertion_once() {
    let jwt_bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    for (assertion, expected) in [("good", Status::Connected), ("bad", Status::NeedsAuth)] {
        let world = world(vec!["good".to_owned()]);
        let mut own = settings(GrantKind::JwtBearer);
        own.assertion = Some(Secret::new(assertion));
        assert_eq!(status(&world, own).await, Some(expected), "{assertion}");
        assert_eq!(world.server.token_requests(jwt_bearer), 1);
    }
}
