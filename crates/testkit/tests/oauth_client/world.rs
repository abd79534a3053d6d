//! An authorization server, a folder with the credentials, and a person who signs in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use wharf::auth::{
    Browser, BrowserError, PageAddress, SignInError, SignInHost, SignInOptions, SignInProgress,
    SignInPrompt, SignedIn,
};
use wharf::config::{
    ClientOrigin, Credential, Credentials, GrantKind, OAuthClient, OAuthGrant, credential_id,
};
use wharf::{
    AllowAll, BoxFuture, CredentialQuery, CredentialStore, Env, FileCredentials, Http, Options,
    Platform, Runtime, Secret,
};
use wharf_testkit::oauth::{AuthorizationRedirect, OAuthServer, OAuthServerOptions, visit};

/// The name of the server.
pub(crate) const SERVER: &str = "tickets";

/// The limit of a sign-in that nobody answers.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

pub(crate) struct World {
    pub(crate) server: OAuthServer,
    pub(crate) home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(OAuthServerOptions::default())
    }

    pub(crate) fn with(options: OAuthServerOptions) -> Self {
        let server = OAuthServer::start(options).unwrap();
        Self { server, home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn env(&self) -> Env {
        Env::new(Platform::HOST, self.home.path()).with_home(self.home.path())
    }

    pub(crate) fn store(&self) -> FileCredentials {
        FileCredentials::new(Arc::new(self.env()))
    }

    /// Starts a runtime with the server.
    pub(crate) async fn runtime(&self) -> Runtime {
        self.runtime_with(self.options()).await
    }

    pub(crate) fn options(&self) -> Options {
        let credentials = Arc::new(self.store());
        Options { credentials, approver: Some(Arc::new(AllowAll)), ..Options::new(self.env()) }
    }

    pub(crate) async fn runtime_with(&self, options: Options) -> Runtime {
        let mut catalog = wharf::Catalog::new(&self.env());
        catalog.insert(SERVER, Http::new(self.server.url()));
        let runtime = Runtime::start(&catalog, options);
        runtime.settled().await;
        runtime
    }

    /// Returns the stored credential.
    pub(crate) fn stored(&self) -> Option<Credential> {
        let url = self.server.url();
        let found = self.store().find(&CredentialQuery::new(None, Some(&url), None)).unwrap();
        found.map(|found| found.credential)
    }

    /// Returns the text of the store, to see whether anything was written.
    pub(crate) fn stored_text(&self) -> String {
        let path = self.home.path().join(".wharf/credentials.json");
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Stores tokens as a sign-in would, which expire after this many seconds.
    pub(crate) fn store_tokens(&self, expires_in: i64) {
        let issued = self.server.issue_tokens("known-client", "");
        let text = |name: &str| Secret::new(issued[name].as_str().unwrap());
        let client = OAuthClient::new("known-client", ClientOrigin::Registered);
        let endpoint = format!("{}/token", self.server.issuer());
        let mut grant = OAuthGrant::new(GrantKind::AuthorizationCode, endpoint, client);
        grant.refresh_token = Some(text("refresh_token"));
        grant.resource = Some(self.server.url());
        grant.issued_at = Some(now().saturating_add_signed(expires_in - 3600));
        grant.expires_at = Some(now().saturating_add_signed(expires_in));
        let url = self.server.url();
        let mut credential = Credential::oauth(&url, text("access_token"), grant);
        credential.issuer = Some(self.server.issuer());
        self.store().put(&credential_id(&url, None), &credential).unwrap();
    }

    /// Checks that no secret is in a text, and none was sent to somebody else.
    pub(crate) fn check_no_leak(&self, text: &str) {
        let other: Vec<_> = self.server.requests().into_iter().filter(is_of_other).collect();
        let sent = format!("{other:?}");
        for secret in self.server.secrets().iter().filter(|secret| secret.len() > 5) {
            assert!(!text.contains(secret), "a secret is in: {text}");
            assert!(!sent.contains(secret), "a secret was sent to somebody else");
        }
    }

    /// Returns how many requests had this method of MCP.
    pub(crate) fn mcp_requests(&self, method: &str) -> usize {
        let is_method = |body: serde_json::Value| body["method"] == method;
        let requests = self.server.requests();
        requests.iter().filter(|it| it.path == "/mcp" && is_method(it.json())).count()
    }
}

fn is_of_other(request: &wharf_testkit::oauth::OAuthRequest) -> bool {
    request.party == wharf_testkit::oauth::OAuthParty::OtherOrigin
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Reads the credentials without a store.
pub(crate) fn count_stored(world: &World) -> usize {
    Credentials::load(&world.env()).unwrap().all().count()
}

/// A person who opens the page, and pastes the address of the last one if asked to.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pastes: bool,
    /// Every step that was shown.
    pub(crate) shown: Arc<Mutex<Vec<SignInProgress>>>,
}

impl Person {
    /// A person whose browser is elsewhere.
    pub(crate) fn pasting() -> Self {
        Self { pastes: true, ..Self::default() }
    }

    pub(crate) fn host(&self) -> SignInHost {
        let host = SignInHost::new(self.clone());
        if self.pastes { host } else { host.with_browser(RealBrowser) }
    }

    pub(crate) fn steps(&self) -> Vec<SignInProgress> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn page(&self) -> Option<String> {
        self.steps().iter().rev().find_map(|step| match step {
            SignInProgress::OpenPage { page, .. } => Some(page.as_str().to_owned()),
            _ => None,
        })
    }

    pub(crate) fn is_rejected(&self) -> bool {
        self.steps().iter().any(|step| matches!(step, SignInProgress::PasteRejected { .. }))
    }
}

impl SignInPrompt for Person {
    fn show(&self, progress: &SignInProgress) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(progress.clone());
    }

    fn pasted(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            // The first line only: later ones would be the same.
            if !self.pastes || self.is_rejected() {
                return None;
            }
            let page = self.page()?;
            let redirect = tokio::task::spawn_blocking(move || AuthorizationRedirect::of(&page));
            Some(redirect.await.ok()?.ok()?.0)
        })
    }
}

/// A browser that follows the redirect to the callback.
struct RealBrowser;

impl Browser for RealBrowser {
    fn open<'a>(&'a self, page: &'a PageAddress) -> BoxFuture<'a, Result<(), BrowserError>> {
        let page = page.as_str().to_owned();
        drop(std::thread::spawn(move || visit(&page)));
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Signs in and shuts the runtime down.
pub(crate) async fn sign_in(
    world: &World,
    options: &SignInOptions,
    person: &Person,
) -> Result<SignedIn, SignInError> {
    let runtime = world.runtime().await;
    let outcome = runtime.sign_in(SERVER, options, &person.host()).await;
    runtime.shutdown().await;
    outcome
}

/// Returns options with which nobody waits long.
pub(crate) fn short() -> SignInOptions {
    let mut options = SignInOptions::default();
    options.limit = Some(SHORT);
    options
}
