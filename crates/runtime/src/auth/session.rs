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
use url::Url;
use wharf_config::{Secret, TokenType};
use wharf_protocol::transport::{AuthorizedRequest, Challenge, ChallengeAction, HttpClient};

use super::challenge::ChallengeInfo;
use super::clock::now;
use super::dpop::DpopKey;
use super::error::SignInError;
use super::options::OAuthSettings;
use super::renewal_tasks::RenewalTasks;
use crate::credentials::{CredentialLock, CredentialQuery, StoreAccess, StoredCredential, binding};

/// How long to wait for another process that renews the credential.
const LOCK_LIMIT: Duration = Duration::from_secs(45);

/// How long the end of the program tries to store a credential.
const LAST_STORE_LIMIT: Duration = Duration::from_secs(5);

/// A token is renewed this long before it expires, or a tenth of its lifetime before, if that is
/// less.
const RENEW_AHEAD: u64 = 60;

/// The age in seconds from which a token is renewed ahead of time.
const MIN_AGE: u64 = 5;

/// How long no renewal ahead of time is tried after one that failed: the issuer may be slow to fail.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// What a server is, for its credential.
#[derive(Clone)]
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
    pub(crate) tasks: RenewalTasks,
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
pub(super) struct SessionState {
    pub(super) current: Option<Arc<StoredCredential>>,
    /// Changes whenever the credential does.
    pub(super) generation: u64,
    pub(super) dpop: Option<Arc<DpopKey>>,
    pub(super) challenge: ChallengeInfo,
    /// A refresh token that the issuer refused for good.
    pub(super) refused: Option<Secret>,
    /// Whether the issuer does not know the client any more.
    pub(super) is_client_forgotten: bool,
    /// When a renewal ahead of time may be tried again after one that failed.
    pub(super) next_attempt: Option<Instant>,
    /// Set while the current credential could not be stored.
    pub(super) unsaved: Option<Unsaved>,
    pub(super) step_ups: usize,
}

/// What is known of a credential that could not be stored. It counts until the store has another
/// one than it replaces.
#[derive(Clone)]
pub(super) struct Unsaved {
    /// The stored token that it replaces.
    pub(super) over: Option<Secret>,
    /// When to try again; none if the store never stores anything.
    pub(super) try_again: Option<Instant>,
}

/// A renewal whose request is next.
struct DueRenewal {
    stored: StoredCredential,
    _lock: CredentialLock,
}

impl Unsaved {
    /// Tells whether the store still has what the unsaved credential replaces.
    fn is_over(&self, stored: Option<&StoredCredential>) -> bool {
        stored.map(|stored| &stored.credential.token) == self.over.as_ref()
    }

    fn may_be_stored(&self) -> bool {
        self.try_again.is_some()
    }
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

    /// Returns the last challenge of the server, if a sign-in has not answered it.
    pub(super) fn challenge(&self) -> ChallengeInfo {
        self.state().challenge.clone()
    }

    /// Tells whether the server has challenged a request.
    pub(crate) fn has_challenge(&self) -> bool {
        self.state().challenge != ChallengeInfo::default()
    }

    /// Uses a credential that the store has for the server.
    pub(crate) fn adopt(&self, found: Option<StoredCredential>) {
        let mut state = self.state();
        if state.unsaved.as_ref().is_some_and(|unsaved| unsaved.is_over(found.as_ref())) {
            return;
        }
        match found {
            Some(found) if state.current.as_deref() == Some(&found) => {}
            Some(found) => state.use_credential(found),
            None => state.clear(),
        }
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
        if self.is_to_be_stored() {
            let session = Arc::clone(self);
            // Nobody waits for it: the token is good.
            drop(self.context.tasks.spawn(async move { session.store_again().await }));
        }
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
            // Nothing says that the credential is bad.
            Err(error) if error.is_transient() => {
                ChallengeAction::TryLater { reason: error.with_causes() }
            }
            Err(error) => {
                tracing::debug!(%error, "a challenge could not be answered");
                self.report(SessionEvent::Needed);
                ChallengeAction::GiveUp
            }
        }
    }

    /// Renews the token that a request carried, unless somebody else has done it meanwhile.
    ///
    /// Dropping the future does not stop a renewal that has begun.
    pub(crate) async fn renew(self: &Arc<Self>, seen: Option<Secret>) -> Result<(), SignInError> {
        let session = Arc::clone(self);
        let renewal = self.context.tasks.spawn(async move {
            // The semaphore is never closed.
            let _permit = session.context.tasks.until_closing(session.renewing.acquire()).await;
            let due = session.context.tasks.until_closing(session.prepare(seen.as_ref())).await;
            match due.ok_or(SignInError::NotRenewable)?? {
                Some(DueRenewal { stored, _lock }) => session.request_renewal(stored).await,
                None => Ok(()),
            }
        });
        // The task is never aborted; a panic in it renews nothing.
        renewal.await.unwrap_or(Err(SignInError::NotRenewable))
    }

    /// Does all that a renewal needs before its request; `None` if none is needed any more. May be
    /// dropped at any time.
    async fn prepare(&self, seen: Option<&Secret>) -> Result<Option<DueRenewal>, SignInError> {
        if self.current().is_some_and(|current| Some(&current.credential.token) != seen) {
            return Ok(None);
        }
        if self.find_newer(seen).await? {
            return Ok(None);
        }
        let Some(current) = self.current() else {
            if self.server.settings.grant_without_person().is_none() {
                return Err(SignInError::NotSignedIn);
            }
            return self.sign_in_alone().await.map(|()| None);
        };
        if !self.can_renew(&current) {
            return Err(SignInError::NotRenewable);
        }
        let lock = self.lock(&current.id).await?;
        if self.find_newer(seen).await? {
            return Ok(None);
        }
        let stored = self.whole(current).await?;
        if stored.is_partial || !self.can_renew(&stored) {
            return Err(SignInError::NotRenewable);
        }
        Ok(Some(DueRenewal { stored, _lock: lock }))
    }

    /// Returns the current credential as the store has it, or as it is if it could not be stored.
    async fn whole(&self, current: Arc<StoredCredential>) -> Result<StoredCredential, SignInError> {
        let stored = self.stored(self.server.account.as_deref()).await?;
        if self.state().unsaved.as_ref().is_some_and(|unsaved| unsaved.is_over(stored.as_ref())) {
            return Ok(Arc::unwrap_or_clone(current));
        }
        if stored.is_none() {
            // Another program has signed out; its decision must not be undone.
            self.forget();
        }
        stored.ok_or(SignInError::NotSignedIn)
    }

    /// Stores the current credential, if that failed before and the store still has what it replaces.
    pub(super) async fn store_again(&self) {
        if !self.state().unsaved.as_ref().is_some_and(Unsaved::may_be_stored) {
            return;
        }
        let Ok(_permit) = self.renewing.acquire().await else { return };
        if let Err(error) = self.try_to_store_again().await {
            tracing::debug!(%error, "a renewed token could still not be stored");
            if let Some(unsaved) = &mut self.state().unsaved {
                unsaved.try_again = Some(Instant::now() + RETRY_AFTER);
            }
        }
    }

    /// Does the same at the end of the program, which does not wait long for the store.
    pub(super) async fn store_at_end(&self) {
        drop(tokio::time::timeout(LAST_STORE_LIMIT, self.store_again()).await);
    }

    async fn try_to_store_again(&self) -> Result<(), SignInError> {
        let Some(current) = self.current() else { return Ok(()) };
        let _lock = self.lock(&current.id).await?;
        let stored = self.stored(self.server.account.as_deref()).await?;
        let is_over = |unsaved: &Unsaved| unsaved.is_over(stored.as_ref());
        if !self.state().unsaved.as_ref().is_some_and(is_over) {
            self.adopt(stored);
            return Ok(());
        }
        self.context.store.put(&current.id, &current.credential).await?;
        self.state().unsaved = None;
        Ok(())
    }

    /// Takes the stored credential if it has another token than the one that was used.
    async fn find_newer(&self, seen: Option<&Secret>) -> Result<bool, SignInError> {
        let account = self.server.account.as_deref();
        let Some(found) = self.find(account, Extent::Token).await? else { return Ok(false) };
        let is_replaced =
            self.state().unsaved.as_ref().is_some_and(|unsaved| unsaved.is_over(Some(&found)));
        let is_newer = Some(&found.credential.token) != seen && !is_replaced;
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
        // An issuer may give tokens that are about to expire from the start.
        if grant.issued_at.is_some_and(|at| now().abs_diff(at) < MIN_AGE) {
            return false;
        }
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

    /// Returns the current credential if it is one of this account that could not be stored.
    pub(super) fn unsaved_of(&self, account: Option<&str>) -> Option<StoredCredential> {
        let state = self.state();
        let current = state.current.clone().filter(|_| state.unsaved.is_some())?;
        let is_of = current.credential.account.as_deref() == account;
        is_of.then(|| Arc::unwrap_or_clone(current))
    }

    /// Returns the token that the store has while this one is current.
    pub(super) fn stored_token(&self, current: &Secret) -> Option<Secret> {
        match &self.state().unsaved {
            Some(unsaved) => unsaved.over.clone(),
            None => Some(current.clone()),
        }
    }

    /// Tells whether it is time to store the current credential again.
    fn is_to_be_stored(&self) -> bool {
        let state = self.state();
        let at = state.unsaved.as_ref().and_then(|unsaved| unsaved.try_again);
        at.is_some_and(|at| at <= Instant::now())
    }

    /// Takes what an earlier session of the server knows.
    pub(super) fn take_over(&self, earlier: &Self) {
        let from = earlier.state();
        let mut state = self.state();
        if let Some(current) = from.current.clone() {
            state.use_credential(Arc::unwrap_or_clone(current));
        }
        state.unsaved.clone_from(&from.unsaved);
        state.challenge.clone_from(&from.challenge);
    }

    /// Replaces the current credential.
    pub(super) fn replace(&self, renewed: StoredCredential, unsaved: Option<Unsaved>) {
        let mut state = self.state();
        state.use_credential(renewed);
        state.unsaved = unsaved;
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

    pub(super) fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    pub(super) fn use_credential(&mut self, found: StoredCredential) {
        let stored = found.credential.oauth.as_ref().and_then(|grant| grant.dpop_key.as_ref());
        let is_same = self.dpop.as_ref().map(|key| key.stored()) == stored;
        if !is_same {
            self.dpop = stored.and_then(|key| DpopKey::from_stored(key).ok()).map(Arc::new);
        }
        self.current = Some(Arc::new(found));
        self.generation += 1;
        self.next_attempt = None;
        self.unsaved = None;
    }

    fn clear(&mut self) {
        self.current = None;
        self.unsaved = None;
        self.generation += 1;
    }
}

/// Shows the address without its query, which may have secrets.
impl fmt::Debug for OAuthServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthServer")
            .field("url", &super::requests::shown(&self.url))
            .field("account", &self.account)
            .finish_non_exhaustive()
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
