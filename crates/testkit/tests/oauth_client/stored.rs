//! What happens to stored credentials: several accounts, several programs, a store that fails for a
//! while, and the end of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use wharf::auth::{SignInError, SignInOptions};
use wharf::config::{Credential, CredentialSummary};
use wharf::{
    CredentialLock, CredentialQuery, CredentialStore, CredentialStoreError, FileCredentials,
    Options, Runtime, Secret, Status, StoredCredential,
};
use wharf_testkit::oauth::{Misbehavior, OAuthEndpoint};

use super::world::{Person, SERVER, World, count_stored};

fn of_account(account: &str) -> SignInOptions {
    let mut options = SignInOptions::default();
    options.account = Some(account.to_owned());
    options
}

async fn sign_in(runtime: &Runtime, options: &SignInOptions) -> Result<String, SignInError> {
    let signed_in = runtime.sign_in(SERVER, options, &Person::default().host()).await?;
    Ok(signed_in.id)
}

async fn call(runtime: &Runtime) -> bool {
    runtime.call(&format!("{SERVER}/add"), json!({ "a": 1, "b": 2 })).await.ok()
}

/// Returns the token of the last request to the server.
fn last_token(world: &World) -> String {
    let requests = world.server.requests();
    let mut sent = requests.iter().rev().filter(|it| it.path == "/mcp");
    sent.find_map(|it| it.authorization()).unwrap().1.to_owned()
}

#[tokio::test]
async fn signing_out_of_an_account_that_is_not_stored_changes_nothing() {
    let world = World::new();
    world.store_tokens(3600);
    let before = world.stored_text();
    let runtime = world.runtime().await;
    let outcome = runtime.sign_out(SERVER, Some("hmoe")).await;
    assert!(matches!(outcome, Err(SignInError::NotSignedIn)), "{outcome:?}");
    assert!(call(&runtime).await);
    runtime.shutdown().await;
    assert_eq!((world.stored_text(), world.server.requests_to("/revoke")), (before, 0));
}

#[tokio::test]
async fn each_account_has_a_credential_of_its_own() {
    let world = World::new();
    let runtime = world.runtime().await;
    let work = sign_in(&runtime, &of_account("work")).await.unwrap();
    // The only credential of the server is used, also by an entry without an account.
    assert!(call(&runtime).await);
    let default = sign_in(&runtime, &SignInOptions::default()).await.unwrap();
    assert_ne!(work, default);
    assert_eq!(count_stored(&world), 2);
    // From now on, the entry uses the one without an account.
    let used = world.store().find(&CredentialQuery::new(Some(&default), None, None)).unwrap();
    let used = used.unwrap().credential.token;
    assert!(call(&runtime).await);
    assert_eq!(last_token(&world), used.expose());
    sign_in(&runtime, &of_account("work")).await.unwrap();
    assert!(call(&runtime).await);
    assert_eq!((last_token(&world).as_str(), count_stored(&world)), (used.expose(), 2));
    runtime.shutdown().await;
}

#[tokio::test]
async fn an_entry_that_names_the_credential_of_another_server_does_not_replace_it() {
    let world = World::new();
    let other = Credential::bearer("https://other.example/mcp", Secret::new("hunter2"));
    world.store().put("other", &other).unwrap();
    let entry = json!({ SERVER: {
        "url": world.server.url(), "auth": { "type": "oauth", "credentialId": "other" },
    } });
    let env = world.env().with_variable("WHARF_MCP_SERVERS", entry.to_string());
    let catalog = wharf::config::load(&env, wharf::LoadOptions::default()).unwrap();
    let options = Options { credentials: Arc::new(world.store()), ..Options::new(env) };
    let runtime = Runtime::start(&catalog, options);
    runtime.settled().await;
    let refused = sign_in(&runtime, &SignInOptions::default()).await;
    assert!(matches!(refused, Err(SignInError::OtherCredential)), "{refused:?}");
    let signed_in = sign_in(&runtime, &of_account("work")).await.unwrap();
    runtime.shutdown().await;
    assert_ne!(signed_in, "other");
    let stored = world.store().find(&CredentialQuery::new(Some("other"), None, None)).unwrap();
    assert_eq!(stored.unwrap().credential, other);
}

/// The file of the person, behind something that fails while a test says so.
struct Flaky {
    file: FileCredentials,
    is_unreadable: AtomicBool,
    /// Whether a token other than the one that is stored cannot be written.
    is_full: AtomicBool,
}

impl Flaky {
    fn of(world: &World) -> Arc<Self> {
        let file = world.store();
        let (is_unreadable, is_full) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { file, is_unreadable, is_full })
    }

    async fn runtime(self: &Arc<Self>, world: &World) -> Runtime {
        let credentials: Arc<dyn CredentialStore> = self.clone();
        world.runtime_with(Options { credentials, ..world.options() }).await
    }
}

impl CredentialStore for Flaky {
    fn find(
        &self,
        wanted: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        if self.is_unreadable.load(Ordering::SeqCst) {
            return Err(CredentialStoreError::new("the disk does not answer"));
        }
        self.file.find(wanted)
    }

    fn put(&self, id: &str, credential: &Credential) -> Result<(), CredentialStoreError> {
        let stored = self.file.find(&CredentialQuery::new(Some(id), None, None))?;
        let is_new = stored.is_none_or(|stored| stored.credential.token != credential.token);
        if is_new && self.is_full.load(Ordering::SeqCst) {
            return Err(CredentialStoreError::new("no space left on device"));
        }
        self.file.put(id, credential)
    }

    fn list(&self) -> Result<Vec<CredentialSummary>, CredentialStoreError> {
        self.file.list()
    }

    fn try_lock(&self, id: &str) -> Result<Option<CredentialLock>, CredentialStoreError> {
        self.file.try_lock(id)
    }
}

#[tokio::test]
async fn a_token_that_could_not_be_stored_is_stored_later() {
    let world = World::new();
    world.store_tokens(-10);
    let store = Flaky::of(&world);
    store.is_full.store(true, Ordering::SeqCst);
    let runtime = store.runtime(&world).await;
    assert_eq!(runtime.status(SERVER), Some(Status::Connected));
    let token = last_token(&world);
    assert_ne!(world.stored().unwrap().token.expose(), token);
    store.is_full.store(false, Ordering::SeqCst);
    runtime.shutdown().await;
    assert_eq!(world.stored().unwrap().token.expose(), token);
}

#[tokio::test]
async fn a_token_that_could_not_be_stored_does_not_undo_a_later_sign_in() {
    let world = World::new();
    world.store_tokens(-10);
    let store = Flaky::of(&world);
    store.is_full.store(true, Ordering::SeqCst);
    let runtime = store.runtime(&world).await;
    world.store_tokens(3600);
    let newer = world.stored_text();
    store.is_full.store(false, Ordering::SeqCst);
    world.server.expire_access_tokens();
    world.store_tokens(3600);
    let newest = world.stored_text();
    assert_ne!(newer, newest);
    assert!(call(&runtime).await);
    runtime.shutdown().await;
    assert_eq!(world.stored_text(), newest);
}

#[tokio::test]
async fn a_store_that_cannot_be_read_does_not_sign_out_a_running_program() {
    let world = World::new();
    world.store_tokens(3600);
    let store = Flaky::of(&world);
    let runtime = store.runtime(&world).await;
    store.is_unreadable.store(true, Ordering::SeqCst);
    assert!(runtime.connect(SERVER).await.is_ok());
    assert!(call(&runtime).await);
    runtime.shutdown().await;
}

#[tokio::test]
async fn the_end_of_a_program_waits_for_the_answer_to_a_refresh_token() {
    let world = World::new();
    world.store_tokens(3600);
    let runtime = world.runtime().await;
    world.server.expire_access_tokens();
    let before = world.stored_text();
    let slow = Misbehavior::Delay(Duration::from_millis(700));
    world.server.misbehave(OAuthEndpoint::Token, slow);
    let calling = runtime.clone();
    let mut calls = tokio::task::JoinSet::new();
    calls.spawn(async move { call(&calling).await });
    let sent = async {
        while world.server.token_requests("refresh_token") == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), sent).await.unwrap();
    calls.shutdown().await;
    runtime.shutdown().await;
    assert_ne!(world.stored_text(), before, "the next tokens are stored");
    assert_eq!(wharf::auth::unfinished_renewals(), 0);
}
