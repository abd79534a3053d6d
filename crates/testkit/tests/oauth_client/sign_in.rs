//! Signing in on a page and with a device code, and signing out.

use wharf::auth::{
    Browser, BrowserError, BrowserState, PageAddress, Revocation, SignInMethod, SignInOptions,
    SignInProgress,
};
use wharf::{BoxFuture, Event, Status};
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint, OAuthServerOptions};

use super::world::{Person, SERVER, World, count_stored, now, sign_in};

#[tokio::test]
async fn after_a_sign_in_in_the_browser_the_server_is_connected() {
    let world = World::new();
    let runtime = world.runtime().await;
    let mut events = runtime.events();
    assert_eq!(runtime.status(SERVER), Some(Status::NeedsAuth));
    let person = Person::default();
    let options = SignInOptions::default();
    let signed_in = runtime.sign_in(SERVER, &options, &person.host()).await.unwrap();
    assert_eq!(signed_in.issuer, world.server.issuer());
    assert!(signed_in.is_renewable && signed_in.not_stored.is_none(), "{signed_in:?}");
    assert!(signed_in.expires_at.unwrap() > now() + 3000);
    assert_eq!(runtime.status(SERVER), Some(Status::Connected));
    let opened = person.steps().into_iter().any(|step| {
        matches!(
            step,
            SignInProgress::OpenPage { browser: BrowserState::Opened, returns: true, .. }
        )
    });
    assert!(opened);
    runtime.shutdown().await;
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::SignedIn { server, .. } = event {
            names.push(server.to_string());
        }
    }
    assert_eq!(names, [SERVER]);
    world.check_no_leak(&format!("{signed_in:?} {:?}", person.steps()));
    // The next program needs no sign-in.
    let runtime = world.runtime().await;
    assert_eq!(runtime.status(SERVER), Some(Status::Connected));
    runtime.shutdown().await;
    assert_eq!(world.server.requests_to("/register"), 1);
}

#[tokio::test]
async fn the_address_of_the_last_page_can_be_pasted() {
    let world = World::new();
    let person = Person::pasting();
    sign_in(&world, &SignInOptions::default(), &person).await.unwrap();
    assert!(world.stored().is_some());
}

#[tokio::test]
async fn a_browser_that_does_not_exist_leaves_the_address_to_paste() {
    let world = World::new();
    let person = Person::pasting();
    let runtime = world.runtime().await;
    let host = person.host().with_browser(NoBrowser);
    runtime.sign_in(SERVER, &SignInOptions::default(), &host).await.unwrap();
    let failed = person.steps().into_iter().any(|step| {
        matches!(step, SignInProgress::OpenPage { browser: BrowserState::Failed(_), .. })
    });
    assert!(failed);
    runtime.shutdown().await;
}

/// There is no browser.
struct NoBrowser;

impl Browser for NoBrowser {
    fn open<'a>(&'a self, _: &'a PageAddress) -> BoxFuture<'a, Result<(), BrowserError>> {
        Box::pin(std::future::ready(Err(BrowserError::new("no browser was found"))))
    }
}

#[tokio::test]
async fn a_scope_that_no_request_can_have_is_left_out() {
    let options = OAuthServerOptions {
        required_scope: Some("read".to_owned()),
        ..OAuthServerOptions::default()
    };
    let world = World::with(options);
    let edit = Misbehavior::edit(|challenge| challenge["scope"] = "läs read".into());
    world.server.misbehave(OAuthEndpoint::Mcp, edit);
    let signed_in = sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    assert_eq!(signed_in.scopes, ["read"]);
}

#[tokio::test]
async fn a_server_of_an_older_revision_is_its_own_issuer() {
    let options =
        OAuthServerOptions { has_resource_metadata: false, ..OAuthServerOptions::default() };
    let world = World::with(options);
    let signed_in = sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    assert!(world.server.url().starts_with(&signed_in.issuer));
}

#[tokio::test]
async fn a_server_without_any_metadata_is_asked_at_the_addresses_of_the_older_revision() {
    let world = World::with(OAuthServerOptions {
        has_resource_metadata: false,
        has_oauth_metadata: false,
        has_openid_metadata: false,
        ..OAuthServerOptions::default()
    });
    sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    assert_eq!((world.server.requests_to("/register"), count_stored(&world)), (1, 1));
}

#[tokio::test]
async fn a_code_can_be_entered_on_another_device() {
    let world = World::new();
    let mut options = SignInOptions::default();
    options.method = SignInMethod::DeviceCode;
    let person = Person::default();
    sign_in(&world, &options, &person).await.unwrap();
    let shown = person
        .steps()
        .into_iter()
        .any(|step| matches!(step, SignInProgress::EnterCode { code, .. } if !code.is_empty()));
    assert!(shown && world.stored().is_some());
}

#[tokio::test]
async fn a_second_sign_in_uses_the_same_registration_and_another_account_its_own_credential() {
    let world = World::new();
    let first = sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    let again = sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    assert_eq!(first.id, again.id);
    assert_eq!(world.server.requests_to("/register"), 1);
    let mut work = SignInOptions::default();
    work.account = Some("work".to_owned());
    let other = sign_in(&world, &work, &Person::default()).await.unwrap();
    assert_ne!(other.id, first.id);
    assert_eq!(count_stored(&world), 2);
}

#[tokio::test]
async fn signing_out_revokes_the_tokens_and_removes_the_credential() {
    let world = World::new();
    sign_in(&world, &SignInOptions::default(), &Person::default()).await.unwrap();
    let runtime = world.runtime().await;
    let signed_out = runtime.sign_out(SERVER, None).await.unwrap();
    assert_eq!(signed_out.revocation, Revocation::Revoked);
    assert_eq!((count_stored(&world), world.server.active_grants()), (0, 0));
    assert!(runtime.sign_out(SERVER, None).await.is_err());
    runtime.shutdown().await;
}
