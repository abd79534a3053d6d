//! The sign-in state of one server: its current token, which is renewed before it expires and after
//! a 401.
//!
//! A fresh token costs no lock and no store. A renewal is made once, by whoever comes first: inside
//! the program by a semaphore, across processes by the lock of the store, with a look at the stored
//! token before and after. It runs in a task of its own, because a refresh token may be used once:
//! a caller that gives up must not lose the answer.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use url::Url;
use wharf_config::{Credential, Secret, TokenType, credential_id};
use wharf_protocol::transport::{AuthorizedRequest, Challenge, ChallengeAction, HttpClient};

use super::challenge::ChallengeInfo;
use super::clock::now;
use super::dpop::DpopKey;
use super::error::SignInError;
use super::options::{OAuthSettings, SignInOptions};
use super::outcome::SignedIn;
use super::prompt::SignInHost;
use super::sign_in::{NewCredential, SignInRun};
use crate::credentials::{
    CredentialLock, CredentialQuery, CredentialStoreError, StoreAccess, StoredCredential, binding,
};

/// How long to wait for another process that renews the credential.
const LOCK_LIMIT: Duration = Duration::from_secs(45);

/// A token is renewed this long before it expires, or a tenth of its lifetime before, if that is
/// less.
const RENEW_AHEAD: u64 = 60;

/// How long no renewal ahead of time is tried after one that failed: the issuer may be slow to fail.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// How often one server may ask for more scopes before a person signs in again by themselves.
const MAX_STEP_UPS: usize = 3;

/// What a server is, for its credential.
#[derive(Debug, Clone)]
pub(crate) struct OAuthServer {
    /// The address for requests.
    pub(crate) url: Url,
    /// What the credential is bound to.
    pub(crate) resource: String,
    /// The reference in the entry.
    pub(crate) credential_id: Option<String>,
    pub(crate) account: Option<String>,
    pub(crate) settings: OAuthSettings,
}

/// What happens to a session, for observers.
#[derive(Debug, Clone)]
pub(crate) enum SessionEvent {
    /// The server wants a sign-in.
    Needed,
    /// The person signed in.
    SignedIn { account: Option<String> },
    /// The token was renewed.
    Renewed { expires_at: Option<u64> },
}

/// Receives the events of a session.
pub(crate) type SessionObserver = Arc<dyn Fn(SessionEvent) + Send + Sync>;

/// What sessions share.
#[derive(Clone)]
pub(crate) struct SessionContext {
    pub(crate) http: HttpClient,
    pub(crate) store: StoreAccess,
    pub(crate) tasks: TaskTracker,
}

/// The sign-in state of one server.
pub(crate) struct OAuthSession {
    pub(super) server: OAuthServer,
    pub(super) context: SessionContext,
    observer: Option<SessionObserver>,
    state: Mutex<SessionState>,
    /// Has one permit: for the renewal.
    renewing: Semaphore,
}

#[derive(Default)]
struct SessionState {
    current: Option<Arc<StoredCredential>>,
    /// Changes whenever the credential does.
    generation: u64,
    dpop: Option<Arc<DpopKey>>,
    challenge: ChallengeInfo,
    /// A refresh token that the issuer refused for good.
    refused: Option<Secret>,
    /// Whether the issuer does not know the client any more.
    is_client_forgotten: bool,
    /// When a renewal ahead of time may be tried again after one that failed.
    next_attempt: Option<Instant>,
    /// Whether the current credential could not be stored.
    is_unsaved: bool,
    step_ups: usize,
}

/// How much of a credential is looked up.
#[derive(Clone, Copy)]
enum Extent {
    /// The token; a fresh one needs no keychain.
    Token,
    /// Also what a renewal needs.
    Everything,
}

/// A token to send. Cheap: it shares the credential.
pub(crate) struct CurrentToken {
    stored: Arc<StoredCredential>,
    /// Changes whenever the token does.
    pub(crate) generation: u64,
}

impl CurrentToken {
    pub(crate) fn token(&self) -> &Secret {
        &self.stored.credential.token
    }

    pub(crate) fn token_type(&self) -> TokenType {
        let grant = self.stored.credential.oauth.as_ref();
        grant.map(|grant| grant.token_type).unwrap_or_default()
    }
}

impl OAuthSession {
    pub(crate) fn new(
        server: OAuthServer,
        context: SessionContext,
        observer: Option<SessionObserver>,
    ) -> Arc<Self> {
        let (state, renewing) = (Mutex::default(), Semaphore::new(1));
        Arc::new(Self { server, context, observer, state, renewing })
    }

    /// Tells whether this is the session of a server with these settings.
    pub(super) fn is_of(&self, server: &OAuthServer) -> bool {
        self.server.settings == server.settings && self.server.url == server.url
    }

    /// Tells whether the server has challenged a request.
    pub(crate) fn has_challenge(&self) -> bool {
        self.state().challenge != ChallengeInfo::default()
    }

    /// Uses a credential that the store has for the server.
    pub(crate) fn adopt(&self, found: Option<StoredCredential>) {
        let mut state = self.state();
        let Some(found) = found else {
            // What could not be stored is all there is.
            if !state.is_unsaved {
                state.clear();
            }
            return;
        };
        if state.current.as_deref() == Some(&found) || state.is_unsaved {
            return;
        }
        state.use_credential(found);
    }

    /// Uses the stored credential, if there is one.
    pub(super) async fn load(&self) {
        match self.find(self.server.account.as_deref(), Extent::Token).await {
            Ok(found) => self.adopt(found),
            Err(error) => tracing::warn!(%error, "the stored credential is not used"),
        }
    }

    /// Returns the token to send: renewed if it is about to expire and that works.
    pub(crate) async fn token(self: &Arc<Self>) -> Option<CurrentToken> {
        let current = self.current()?;
        if self.is_due(&current) {
            let seen = current.credential.token.clone();
            if let Err(error) = self.renew(Some(seen)).await {
                // The old token may still work; if not, the server says so.
                tracing::debug!(%error, "a token could not be renewed ahead of time");
                self.state().next_attempt = Some(Instant::now() + RETRY_AFTER);
            }
        }
        let state = self.state();
        Some(CurrentToken { stored: state.current.clone()?, generation: state.generation })
    }

    /// Makes the proof of possession for a request, if the token needs one.
    pub(crate) fn proof(
        &self,
        request: AuthorizedRequest<'_>,
        token: &CurrentToken,
    ) -> Option<HeaderValue> {
        let key = self.state().dpop.clone()?;
        let url = request.target.url();
        key.proof(request.method.as_str(), url, Some(token.token())).ok()
    }

    /// Keeps the nonce of a response.
    pub(crate) fn on_response(&self, headers: &HeaderMap) {
        let key = self.state().dpop.clone();
        if let Some(key) = key {
            key.keep_nonce(&self.server.url, headers);
        }
    }

    /// Decides what to do after a challenge to a request that carried this token.
    pub(crate) async fn on_challenge(
        self: &Arc<Self>,
        challenge: &Challenge,
        used: Option<Secret>,
    ) -> ChallengeAction {
        let info = ChallengeInfo::read(&challenge.www_authenticate);
        let has_key = self.state().dpop.is_some();
        if info.error.as_deref() == Some("use_dpop_nonce") && challenge.nonce.is_some() && has_key {
            return ChallengeAction::RetryWithNonce;
        }
        let is_unauthorized = challenge.status == StatusCode::UNAUTHORIZED;
        if !is_unauthorized && !info.is_insufficient_scope() {
            return ChallengeAction::GiveUp;
        }
        self.state().challenge = info;
        let renewed = if challenge.previous_challenges > 0 {
            Err(SignInError::NotRenewable)
        } else if is_unauthorized {
            self.renew(used).await
        } else {
            self.find_newer(used.as_ref())
                .await
                .and_then(|is_newer| if is_newer { Ok(()) } else { Err(SignInError::NotRenewable) })
        };
        match renewed {
            Ok(()) => ChallengeAction::Retry,
            Err(error) => {
                tracing::debug!(%error, "a challenge could not be answered");
                self.report(SessionEvent::Needed);
                ChallengeAction::GiveUp
            }
        }
    }

    /// Signs in and stores the credential.
    pub(crate) async fn sign_in(
        &self,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> Result<SignedIn, SignInError> {
        let account = options.account.clone().or_else(|| self.server.account.clone());
        let stored = self.stored(account.as_deref()).await?;
        let challenge = self.state().challenge.clone();
        self.check_step_up(&challenge, stored.as_ref())?;
        let is_client_forgotten = self.state().is_client_forgotten;
        let run = SignInRun {
            http: &self.context.http,
            server: &self.server.url,
            resource: &self.server.resource,
            settings: &self.server.settings,
            options,
            challenge: &challenge,
            stored: stored.as_ref().map(|stored| &stored.credential),
            is_client_forgotten,
            host,
        };
        let NewCredential { credential, warnings } = run.run().await?;
        let credential = credential.with_account(account.clone());
        let id = match (&self.server.credential_id, stored) {
            (_, Some(stored)) => stored.id,
            (Some(id), None) => id.clone(),
            (None, None) => credential_id(&self.server.resource, account.as_deref()),
        };
        let lock = self.lock(&id).await?;
        let not_stored = self.context.store.put(&id, &credential).await.err();
        drop(lock);
        if let Some(error) = not_stored.as_ref().filter(|error| !error.is_read_only()) {
            return Err(SignInError::Store(error.clone()));
        }
        let summary = signed_in(&id, &credential, not_stored, warnings);
        let mut state = self.state();
        state.use_credential(StoredCredential::new(id, credential));
        state.is_unsaved = summary.not_stored.is_some();
        state.challenge = ChallengeInfo::default();
        state.is_client_forgotten = false;
        drop(state);
        self.report(SessionEvent::SignedIn { account });
        Ok(summary)
    }

    /// Checks that more scopes would help: not if the token has them already, and not for ever.
    fn check_step_up(
        &self,
        challenge: &ChallengeInfo,
        stored: Option<&StoredCredential>,
    ) -> Result<(), SignInError> {
        let mut state = self.state();
        if !challenge.is_insufficient_scope() {
            state.step_ups = 0;
            return Ok(());
        }
        let grant = stored.and_then(|stored| stored.credential.oauth.as_ref());
        let granted = grant.map(|grant| &*grant.scopes).unwrap_or_default();
        let is_granted = challenge.scopes.iter().all(|scope| granted.contains(scope));
        state.step_ups += 1;
        if (is_granted && grant.is_some()) || state.step_ups > MAX_STEP_UPS {
            return Err(SignInError::StepUpFailed);
        }
        Ok(())
    }

    /// Renews the token that a request carried, unless somebody else has done it meanwhile.
    ///
    /// Dropping the future does not stop a renewal that has begun.
    pub(crate) async fn renew(self: &Arc<Self>, seen: Option<Secret>) -> Result<(), SignInError> {
        let session = Arc::clone(self);
        let renewal = self.context.tasks.spawn(async move { session.renew_once(seen).await });
        // The task is never aborted; a panic in it renews nothing.
        renewal.await.unwrap_or(Err(SignInError::NotRenewable))
    }

    async fn renew_once(&self, seen: Option<Secret>) -> Result<(), SignInError> {
        // The semaphore is never closed.
        let _permit = self.renewing.acquire().await;
        let is_current =
            |current: &StoredCredential| Some(&current.credential.token) == seen.as_ref();
        if self.current().is_some_and(|current| !is_current(&current)) {
            return Ok(());
        }
        if self.find_newer(seen.as_ref()).await? {
            return Ok(());
        }
        let Some(current) = self.current() else {
            if self.server.settings.grant_without_person().is_none() {
                return Err(SignInError::NotSignedIn);
            }
            return self.sign_in_alone().await;
        };
        if !self.can_renew(&current) {
            return Err(SignInError::NotRenewable);
        }
        let _lock = self.lock(&current.id).await?;
        if self.find_newer(seen.as_ref()).await? {
            return Ok(());
        }
        let is_unsaved = self.state().is_unsaved;
        let whole = if is_unsaved {
            Arc::unwrap_or_clone(current)
        } else {
            let stored = self.stored(self.server.account.as_deref()).await?;
            // Another program has signed out; its decision must not be undone.
            stored.ok_or(SignInError::NotSignedIn)?
        };
        if whole.is_partial || !self.can_renew(&whole) {
            return Err(SignInError::NotRenewable);
        }
        self.request_renewal(whole).await
    }

    /// Takes the stored credential if it has another token than the one that was used.
    async fn find_newer(&self, seen: Option<&Secret>) -> Result<bool, SignInError> {
        if self.state().is_unsaved {
            return Ok(false);
        }
        let account = self.server.account.as_deref();
        let Some(found) = self.find(account, Extent::Token).await? else { return Ok(false) };
        let is_newer = Some(&found.credential.token) != seen;
        if is_newer {
            self.state().use_credential(found);
        }
        Ok(is_newer)
    }

    /// Returns the stored credential of the server with everything in it, if it is bound to it.
    pub(super) async fn stored(
        &self,
        account: Option<&str>,
    ) -> Result<Option<StoredCredential>, SignInError> {
        self.find(account, Extent::Everything).await
    }

    async fn find(
        &self,
        account: Option<&str>,
        extent: Extent,
    ) -> Result<Option<StoredCredential>, SignInError> {
        let resource = Some(&*self.server.resource);
        let by_id = self.server.credential_id.as_deref();
        let is_own = account == self.server.account.as_deref();
        let id = by_id.filter(|_| is_own);
        let wanted = CredentialQuery::new(id, resource, account);
        let found = match extent {
            Extent::Token => self.context.store.find(wanted).await?,
            Extent::Everything => self.context.store.find_whole(wanted).await?,
        };
        let Some(found) = found else { return Ok(None) };
        if binding::is_for_resource(&found.credential, &self.server.resource) {
            let is_account = account.is_none() || found.credential.account.as_deref() == account;
            return Ok(Some(found).filter(|_| is_account));
        }
        if id.is_some() { Err(SignInError::OtherCredential) } else { Ok(None) }
    }

    pub(super) async fn lock(&self, id: &str) -> Result<CredentialLock, SignInError> {
        self.context.store.lock(id, LOCK_LIMIT).await?.ok_or(SignInError::Locked)
    }

    /// Tells whether the token is about to expire and can be renewed.
    fn is_due(&self, stored: &StoredCredential) -> bool {
        let Some(grant) = &stored.credential.oauth else { return false };
        let Some(expires_at) = grant.expires_at else { return false };
        if self.state().next_attempt.is_some_and(|at| Instant::now() < at) {
            return false;
        }
        let lifetime = expires_at.saturating_sub(grant.issued_at.unwrap_or_default());
        let ahead = RENEW_AHEAD.min(lifetime / 10);
        now() + ahead >= expires_at && self.can_renew(stored)
    }

    /// Tells whether the token can be renewed, as far as is known.
    fn can_renew(&self, stored: &StoredCredential) -> bool {
        if stored.is_partial {
            return true;
        }
        let Some(grant) = &stored.credential.oauth else { return false };
        match &grant.refresh_token {
            Some(token) => self.state().refused.as_ref() != Some(token),
            None => !grant.kind.needs_person(),
        }
    }

    pub(super) fn current(&self) -> Option<Arc<StoredCredential>> {
        self.state().current.clone()
    }

    /// Replaces the current credential.
    pub(super) fn replace(&self, renewed: StoredCredential, is_unsaved: bool) {
        let mut state = self.state();
        state.use_credential(renewed);
        state.is_unsaved = is_unsaved;
    }

    /// Forgets the current credential.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        *state = SessionState { generation: state.generation + 1, ..SessionState::default() };
    }

    /// Remembers that the issuer refused a refresh token, or the client, for good.
    pub(super) fn refuse(&self, token: Option<Secret>, is_client_forgotten: bool) {
        let mut state = self.state();
        state.refused = token;
        state.is_client_forgotten = is_client_forgotten;
    }

    pub(super) fn dpop(&self) -> Option<Arc<DpopKey>> {
        self.state().dpop.clone()
    }

    pub(super) fn report(&self, event: SessionEvent) {
        if let Some(observer) = &self.observer {
            observer(event);
        }
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    fn use_credential(&mut self, found: StoredCredential) {
        let stored = found.credential.oauth.as_ref().and_then(|grant| grant.dpop_key.as_ref());
        let is_same = self.dpop.as_ref().map(|key| key.stored()) == stored;
        if !is_same {
            self.dpop = stored.and_then(|key| DpopKey::from_stored(key).ok()).map(Arc::new);
        }
        self.current = Some(Arc::new(found));
        self.generation += 1;
        self.next_attempt = None;
    }

    fn clear(&mut self) {
        self.current = None;
        self.generation += 1;
    }
}

fn signed_in(
    id: &str,
    credential: &Credential,
    not_stored: Option<CredentialStoreError>,
    warnings: Vec<wharf_config::Problem>,
) -> SignedIn {
    let grant = credential.oauth.as_deref();
    SignedIn {
        id: id.to_owned(),
        issuer: credential.issuer.clone().unwrap_or_default(),
        account: credential.account.clone(),
        scopes: grant.map(|grant| grant.scopes.clone()).unwrap_or_default(),
        expires_at: grant.and_then(|grant| grant.expires_at),
        is_renewable: grant
            .is_some_and(|grant| grant.refresh_token.is_some() || !grant.kind.needs_person()),
        not_stored,
        warnings,
    }
}

/// Shows only the server: everything else may be secret.
impl fmt::Debug for OAuthSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthSession")
            .field("server", &super::requests::shown(&self.server.url))
            .finish_non_exhaustive()
    }
}
