//! Issuers and servers that claim to be somebody else, or to know somebody else's secrets.

use std::collections::BTreeMap;

use serde_json::Value;
use wharf::auth::{
    AnswerFlaw, Browser, BrowserError, OAuthSettings, PageAddress, SignInError, SignInHost,
    SignInOptions,
};
use wharf::config::GrantKind;
use wharf::{BoxFuture, Http, Options, Runtime, Secret, ServerName, Status};
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint, OAuthServerOptions, RegisteredClient};

use super::world::{Person, SERVER, World, short, sign_in};

const HONEST: &str = "https://login.example";

async fn runtime(world: &World, settings: OAuthSettings) -> Runtime {
    let oauth = BTreeMap::from([(ServerName::new(SERVER), settings)]);
    world.runtime_with(Options { oauth, ..world.options() }).await
}

fn machine() -> OAuthSettings {
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("machine".to_owned());
    settings.client_secret = Some(Secret::new("machine-secret"));
    settings
}

fn world(has_resource_metadata: bool) -> World {
    let clients = vec![RegisteredClient::confidential("machine", "machine-secret")];
    World::with(OAuthServerOptions {
        clients,
        has_resource_metadata,
        ..OAuthServerOptions::default()
    })
}

/// Lets the metadata claim to be those of the honest issuer.
fn forge(world: &World) {
    let edit = |it: &mut Value| it["issuer"] = HONEST.into();
    world.server.misbehave(OAuthEndpoint::ServerMetadata, Misbehavior::edit(edit));
}

#[tokio::test]
async fn a_server_without_metadata_of_its_own_cannot_take_the_name_of_another_issuer() {
    let world = world(false);
    forge(&world);
    let mut pinned = machine();
    pinned.issuer = Some(HONEST.to_owned());
    let runtime = runtime(&world, pinned).await;
    let person = Person::default();
    let error = runtime.sign_in(SERVER, &short(), &person.host()).await.unwrap_err();
    runtime.shutdown().await;
    assert!(matches!(error, SignInError::OtherIssuer { .. }), "{error:?}");
    assert_eq!(world.server.requests_to("/token"), 0);
    assert_eq!(world.server.requests_to("/authorize"), 0);
}

#[tokio::test]
async fn a_server_that_names_another_issuer_is_signed_in_to_under_its_own_name() {
    let world = World::with(OAuthServerOptions {
        has_resource_metadata: false,
        sends_issuer: false,
        ..OAuthServerOptions::default()
    });
    forge(&world);
    let signed_in = sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    assert_eq!(signed_in.issuer, world.server.issuer());
    assert!(signed_in.warnings.iter().any(|warning| warning.code == "issuer-elsewhere"));
}

#[tokio::test]
async fn a_secret_does_not_go_to_an_issuer_that_only_the_server_names() {
    let world = world(true);
    let mut settings = machine();
    settings.grant = Some(GrantKind::ClientCredentials);
    let runtime = runtime(&world, settings).await;
    assert_eq!(runtime.status(SERVER), Some(Status::NeedsAuth));
    let host = Person::default().host();
    let error = runtime.sign_in(SERVER, &short(), &host).await.unwrap_err();
    runtime.shutdown().await;
    assert!(matches!(error, SignInError::UnconfirmedIssuer { .. }), "{error:?}");
    assert_eq!(world.server.requests_to("/token"), 0);
}

#[tokio::test]
async fn metadata_do_not_turn_a_sign_in_of_a_person_into_one_of_the_program() {
    let world = world(true);
    let edit = |it: &mut Value| it["grant_types_supported"] = vec!["client_credentials"].into();
    world.server.misbehave(OAuthEndpoint::ServerMetadata, Misbehavior::edit(edit));
    let runtime = runtime(&world, machine()).await;
    runtime.sign_in(SERVER, &SignInOptions::default(), &Person::default().host()).await.unwrap();
    runtime.shutdown().await;
    assert_eq!(world.server.token_requests("client_credentials"), 0);
    assert_eq!(world.server.token_requests("authorization_code"), 1);
}

#[tokio::test]
async fn a_code_of_one_party_does_not_go_to_the_token_endpoint_of_another() {
    for (names_issuer, expected) in [(false, false), (true, true)] {
        let world = World::with(OAuthServerOptions {
            sends_issuer: names_issuer,
            ..OAuthServerOptions::default()
        });
        // The same machine under another name.
        let edit = |it: &mut Value| {
            let page = it["authorization_endpoint"].as_str().unwrap_or_default();
            it["authorization_endpoint"] = page.replace("127.0.0.1", "localhost").into();
        };
        world.server.misbehave(OAuthEndpoint::ServerMetadata, Misbehavior::edit(edit));
        let outcome = sign_in(&world, &short(), &Person::pasting()).await;
        assert_eq!(outcome.is_ok(), expected, "{outcome:?}");
        if let Err(error) = outcome {
            let is_it = matches!(error, SignInError::RejectedAnswer(AnswerFlaw::NoIssuer));
            assert!(is_it, "{error:?}");
            assert_eq!(world.server.token_requests("authorization_code"), 0);
        }
    }
}

#[tokio::test]
async fn the_query_of_the_address_of_a_server_stays_with_the_server() {
    let world = World::new();
    let edit = |it: &mut Value| it["resource"] = Value::Null;
    world.server.misbehave(OAuthEndpoint::ResourceMetadata, Misbehavior::edit(edit));
    let mut catalog = wharf::Catalog::new(&world.env());
    catalog.insert(SERVER, Http::new(format!("{}?api_key=key-in-query", world.server.url())));
    let runtime = Runtime::start(&catalog, world.options());
    runtime.settled().await;
    let person = Person::default();
    runtime.sign_in(SERVER, &SignInOptions::default(), &person.host()).await.unwrap();
    runtime.shutdown().await;
    let others = world.server.requests().into_iter().filter(|it| it.path != "/mcp");
    let others = format!("{:?}", others.collect::<Vec<_>>());
    assert!(others.contains("/token") && !others.contains("key-in-query"), "{others}");
}

/// A browser on the terminal: it returns when the person has left it.
struct TerminalBrowser;

impl Browser for TerminalBrowser {
    fn open<'a>(&'a self, _: &'a PageAddress) -> BoxFuture<'a, Result<(), BrowserError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_browser_that_does_not_return_does_not_block_the_sign_in() {
    let world = World::new();
    let runtime = world.runtime().await;
    let host: SignInHost = Person::pasting().host().with_browser(TerminalBrowser);
    let mut options = short();
    options.limit = None;
    runtime.sign_in(SERVER, &options, &host).await.unwrap();
    runtime.shutdown().await;
}
