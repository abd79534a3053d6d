//! Renewing tokens: ahead of time, after a 401, and what a failure leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use wharf::auth::SignInOptions;
use wharf::config::{Credential, CredentialSummary};
use wharf::{
    CallErrorReason, CredentialQuery, CredentialStore, CredentialStoreError, Event,
    FileCredentials, Options, Runtime, Status, StoredCredential,
};
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint};

use super::world::{Person, SERVER, World, count_stored};

async fn status(world: &World) -> Option<Status> {
    let runtime = world.runtime().await;
    let status = runtime.status(SERVER);
    runtime.shutdown().await;
    status
}

fn refreshes(world: &World) -> usize {
    world.server.token_requests("refresh_token")
}

#[tokio::test]
async fn a_fresh_token_is_sent_without_a_renewal() {
    let world = World::new();
    world.store_tokens(3600);
    let before = world.stored_text();
    assert_eq!(status(&world).await, Some(Status::Connected));
    assert_eq!((refreshes(&world), world.stored_text()), (0, before));
    let locks = std::fs::read_dir(world.home.path().join(".wharf/run")).unwrap();
    let locks = locks
        .filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().starts_with("credential-"));
    assert_eq!(locks.count(), 0, "no lock was taken");
}

#[tokio::test]
async fn a_token_that_is_about_to_expire_is_renewed_before_it_is_sent() {
    let world = World::new();
    world.store_tokens(20);
    let runtime = world.runtime().await;
    assert_eq!((runtime.status(SERVER), refreshes(&world)), (Some(Status::Connected), 1));
    assert!(world.server.requests().iter().all(|request| request.path != "/register"));
    runtime.shutdown().await;
    // The new tokens are stored, so the next program renews nothing.
    assert_eq!(status(&world).await, Some(Status::Connected));
    assert_eq!(refreshes(&world), 1);
}

#[tokio::test]
async fn after_a_401_the_token_is_renewed_once_for_all_requests() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    let mut events = runtime.events();
    world.server.expire_access_tokens();
    let calls = (0..8).map(|_| async {
        runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await.ok()
    });
    let outcomes = futures_util::future::join_all(calls).await;
    assert_eq!(outcomes, [true; 8]);
    assert_eq!(refreshes(&world), 1);
    runtime.shutdown().await;
    let mut renewed = 0;
    while let Some(event) = events.next().await {
        renewed += usize::from(matches!(event, Event::TokenRenewed { .. }));
    }
    assert_eq!(renewed, 1);
}

#[tokio::test]
async fn a_transient_failure_keeps_the_credential_for_the_next_attempt() {
    for (how, expected) in [
        (Misbehavior::Answer(503, "text/plain", "busy".to_owned()), Status::Failed),
        (Misbehavior::Abort, Status::Failed),
        (Misbehavior::json(400, &json!({ "error": "temporarily_unavailable" })), Status::Failed),
        (Misbehavior::json(200, &json!({})), Status::NeedsAuth),
        (Misbehavior::Answer(200, "text/html", "<p>a login page".to_owned()), Status::NeedsAuth),
    ] {
        let world = World::new();
        world.store_tokens(-10);
        world.server.expire_access_tokens();
        let before = world.stored_text();
        world.server.misbehave(OAuthEndpoint::Token, how.clone());
        assert_eq!(status(&world).await, Some(expected), "{how:?}");
        assert_eq!(world.stored_text(), before, "{how:?}");
        world.server.behave();
        assert_eq!(status(&world).await, Some(Status::Connected), "{how:?}");
    }
}

#[tokio::test]
async fn a_revoked_grant_needs_a_sign_in_and_is_not_asked_again() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.revoke_all();
    let before = world.stored_text();
    let runtime = world.runtime().await;
    assert_eq!((runtime.status(SERVER), refreshes(&world)), (Some(Status::NeedsAuth), 1));
    drop(runtime.connect(SERVER).await);
    assert_eq!((refreshes(&world), world.stored_text()), (1, before));
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_old_refresh_token_is_kept_if_there_is_no_new_one() {
    let world = World::new();
    world.store_tokens(20);
    let old = world.stored().unwrap().oauth.unwrap().refresh_token;
    let forget = Misbehavior::edit(|it| {
        it.as_object_mut().map(|it| it.remove("refresh_token"));
    });
    world.server.misbehave(OAuthEndpoint::Token, forget);
    assert_eq!(status(&world).await, Some(Status::Connected));
    let stored = world.stored().unwrap();
    assert_eq!(stored.oauth.unwrap().refresh_token, old);
}

#[tokio::test]
async fn a_token_that_another_program_has_renewed_is_used() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    world.server.expire_access_tokens();
    world.store_tokens(3600);
    let outcome = runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
    assert!(outcome.ok(), "{outcome:?}");
    assert_eq!(refreshes(&world), 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_sign_out_of_another_program_is_not_undone() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    let id = world.store().list().unwrap().remove(0).id;
    world.store().remove(&id).unwrap();
    world.server.expire_access_tokens();
    let outcome = runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
    assert_eq!(outcome.error.unwrap().reason, CallErrorReason::NeedsAuth);
    assert_eq!((refreshes(&world), count_stored(&world)), (0, 0));
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_client_that_the_issuer_has_forgotten_registers_again() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.expire_access_tokens();
    world.server.forget_clients();
    let runtime = world.runtime().await;
    assert_eq!(runtime.status(SERVER), Some(Status::NeedsAuth));
    let options = SignInOptions::default();
    runtime.sign_in(SERVER, &options, &Person::default().host()).await.unwrap();
    assert_eq!(runtime.status(SERVER), Some(Status::Connected));
    assert_eq!(world.server.requests_to("/register"), 1);
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_issuer_that_fails_is_not_asked_before_each_request() {
    let world = World::new();
    world.store_tokens(20);
    let busy = Misbehavior::Answer(503, "text/plain", "busy".to_owned());
    world.server.misbehave(OAuthEndpoint::Token, busy);
    let runtime = world.runtime().await;
    for _ in 0..3 {
        let outcome = runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await;
        assert!(outcome.ok(), "{outcome:?}");
    }
    assert_eq!(refreshes(&world), 1);
    runtime.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_gets_a_token_that_is_still_valid() {
    let world = World::new();
    world.store_tokens(20);
    let old = world.stored().unwrap().token;
    let id = world.store().list().unwrap().remove(0).id;
    let path = world.home.path().join("token");
    let command = format!("printf %s \"$OAUTH_ACCESS_TOKEN\" > '{}'", path.display());
    let entry = json!({ "program": {
        "command": "sh", "args": ["-c", command],
        "auth": { "type": "oauth", "credentialId": id },
    } });
    let env = world.env().with_variable("WHARF_MCP_SERVERS", entry.to_string());
    let env = env.with_variable("PATH", "/usr/bin:/bin");
    let catalog = wharf::config::load(&env, wharf::LoadOptions::default()).unwrap();
    let options = Options { credentials: Arc::new(world.store()), ..Options::new(env) };
    let runtime = Runtime::start(&catalog, options);
    runtime.settled().await;
    runtime.shutdown().await;
    let given = std::fs::read_to_string(path).unwrap();
    assert_eq!(given, world.stored().unwrap().token.expose());
    assert_ne!(given, old.expose());
}

/// A store whose writes fail from a certain one on, as on a full disk.
struct FullDisk {
    file: FileCredentials,
    writes: AtomicUsize,
    free: usize,
}

impl CredentialStore for FullDisk {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        self.file.find(wanted)
    }

    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        if self.writes.fetch_add(1, Ordering::SeqCst) >= self.free {
            return Err(CredentialStoreError::new("no space left on device"));
        }
        self.file.put(id, credential)
    }

    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        self.file.list()
    }
}

async fn with_free_writes(world: &World, free: usize) -> Runtime {
    let store = FullDisk { file: world.store(), writes: AtomicUsize::new(0), free };
    let options = Options { credentials: Arc::new(store), ..world.options() };
    world.runtime_with(options).await
}

#[tokio::test]
async fn a_full_disk_is_noticed_before_the_refresh_token_is_spent() {
    let world = World::new();
    world.store_tokens(-10);
    world.server.expire_access_tokens();
    let before = world.stored_text();
    let runtime = with_free_writes(&world, 0).await;
    assert_eq!(runtime.status(SERVER), Some(Status::Failed));
    runtime.shutdown().await;
    assert_eq!((refreshes(&world), world.stored_text()), (0, before));
    assert_eq!(status(&world).await, Some(Status::Connected));
}

#[tokio::test]
async fn a_renewed_token_that_cannot_be_stored_is_used_by_the_program_that_has_it() {
    let world = World::new();
    world.store_tokens(-10);
    let before = world.stored_text();
    let runtime = with_free_writes(&world, 1).await;
    assert_eq!(runtime.status(SERVER), Some(Status::Connected));
    let again = tokio::time::timeout(Duration::from_secs(20), runtime.connect(SERVER)).await;
    assert!(again.unwrap().is_ok());
    runtime.shutdown().await;
    assert_eq!((refreshes(&world), world.stored_text()), (1, before));
}
