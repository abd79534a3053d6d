//! OAuth for a connection that a program makes itself, without a [`Runtime`](crate::Runtime).
//!
//! The same session as in a runtime. A challenge that needs the person fails the request; the
//! program then calls [`OAuthAuthorizer::sign_in`] and repeats the request.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use tokio::sync::OnceCell;
use wharf_config::{Secret, ServerUrl};
use wharf_protocol::transport::{
    AuthorizedRequest, Authorizer, BoxFuture, Challenge, ChallengeAction, HttpClient, HttpTarget,
};

use super::challenge::ChallengeInfo;
use super::error::SignInError;
use super::options::{OAuthSettings, SignInOptions};
use super::outcome::{SignedIn, SignedOut};
use super::prompt::{SignInHost, SignInProgress};
use super::renewal_tasks::RenewalTasks;
use super::session::{CurrentToken, OAuthServer, OAuthSession, SessionContext};
use crate::credentials::{CredentialStore, StoreAccess};

/// How many challenges of one request lead to a sign-in: one for a token, one for its scopes.
const MAX_SIGN_INS: usize = 2;

/// Adds the token of one server to its requests, and renews it.
pub struct OAuthAuthorizer {
    session: Arc<OAuthSession>,
    loaded: OnceCell<()>,
    sent: Mutex<SentToken>,
    /// Signs in when the server asks for it.
    host: Option<(SignInHost, SignInOptions)>,
    /// The challenge after which a sign-in failed: the person is not asked again for it.
    failed: Mutex<Option<ChallengeInfo>>,
}

#[derive(Default)]
struct SentToken {
    token: Option<Secret>,
    headers: HeaderMap,
    generation: u64,
}

impl OAuthAuthorizer {
    /// Makes the authorizer of a server.
    ///
    /// # Errors
    /// If the address is not one of a server over HTTP.
    pub fn new(
        address: &str,
        settings: OAuthSettings,
        http: HttpClient,
        store: Arc<dyn CredentialStore>,
    ) -> Result<Self, SignInError> {
        let url: ServerUrl = address.parse().map_err(|_| SignInError::NotHttp)?;
        let target: HttpTarget = address.parse().map_err(|_| SignInError::NotHttp)?;
        let server = OAuthServer {
            url: target.url().clone(),
            resource: url.resource().ok_or(SignInError::NotHttp)?,
            credential_id: None,
            account: None,
            settings,
        };
        let store = StoreAccess::new(store);
        let context = SessionContext { http, store, tasks: RenewalTasks::default() };
        let session = OAuthSession::new(server, context, None);
        Ok(Self {
            session,
            loaded: OnceCell::new(),
            sent: Mutex::default(),
            host: None,
            failed: Mutex::default(),
        })
    }

    /// Signs in with this host when the server asks for it, and repeats the request. The time that
    /// the person takes counts for the timeout of the request. After a sign-in that failed or was
    /// cancelled, the same challenge asks nobody again until [`sign_in`](Self::sign_in).
    #[must_use]
    pub fn with_host(self, host: SignInHost, options: SignInOptions) -> Self {
        Self { host: Some((host, options)), ..self }
    }

    /// Signs in, as the last challenge of the server wants it, and stores the credential.
    ///
    /// # Errors
    /// Whatever the error, the stored credential is the same as before.
    pub async fn sign_in(
        &self,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> Result<SignedIn, SignInError> {
        let signed_in = self.session.sign_in(options, host).await?;
        *self.failed() = None;
        Ok(signed_in)
    }

    /// Revokes the tokens where the issuer offers that, and removes the credential.
    pub async fn sign_out(&self) -> Result<SignedOut, SignInError> {
        self.session.sign_out(None).await
    }

    /// Waits for a renewal whose refresh token was sent: it may be used once, so a program that ends
    /// before the answer is stored must sign in again. Call it before the end of the program.
    pub async fn close(&self) {
        self.session.context.tasks.close().await;
        self.session.store_at_end().await;
    }

    /// Signs in after a challenge, if that has not been tried for the request.
    async fn sign_in_after(
        &self,
        challenge: &Challenge,
        options: &SignInOptions,
        host: &SignInHost,
    ) -> ChallengeAction {
        let wanted = self.session.challenge();
        if challenge.previous_challenges >= MAX_SIGN_INS
            || !self.session.has_challenge()
            || self.failed().as_ref() == Some(&wanted)
        {
            return ChallengeAction::GiveUp;
        }
        // Also if the sign-in is cancelled: then it ends here.
        *self.failed() = Some(wanted);
        match self.session.sign_in_for_server(options, host).await {
            Ok(_) => {
                *self.failed() = None;
                ChallengeAction::Retry
            }
            Err(error) => {
                host.show(&SignInProgress::Failed(Arc::new(error)));
                ChallengeAction::GiveUp
            }
        }
    }

    fn failed(&self) -> MutexGuard<'_, Option<ChallengeInfo>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sent(&self) -> MutexGuard<'_, SentToken> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SentToken {
    /// Uses a token from now on.
    fn set(&mut self, current: Option<&CurrentToken>) {
        let generation = current.map_or(0, |current| current.generation);
        if self.generation == generation {
            return;
        }
        self.generation = generation;
        self.token = current.map(|current| current.token().clone());
        self.headers.clear();
        let value = current.and_then(|current| {
            let text = format!("{} {}", current.token_type().word(), current.token().expose());
            let mut value = HeaderValue::try_from(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        if let Some(value) = value {
            self.headers.insert(AUTHORIZATION, value);
        }
    }
}

impl Authorizer for OAuthAuthorizer {
    fn headers<'a>(&'a self, request: AuthorizedRequest<'a>) -> BoxFuture<'a, HeaderMap> {
        Box::pin(async move {
            self.loaded.get_or_init(|| self.session.load()).await;
            let current = self.session.token().await;
            let proof = current.as_ref().and_then(|current| self.session.proof(request, current));
            let mut sent = self.sent();
            sent.set(current.as_ref());
            let mut headers = sent.headers.clone();
            headers.extend(proof.map(|proof| (super::PROOF, proof)));
            headers
        })
    }

    fn secret_headers(&self) -> HeaderMap {
        self.sent().headers.clone()
    }

    fn on_response(&self, headers: &HeaderMap) {
        self.session.on_response(headers);
    }

    fn generation(&self) -> u64 {
        self.sent().generation
    }

    fn on_challenge(&self, challenge: Challenge) -> BoxFuture<'_, ChallengeAction> {
        Box::pin(async move {
            let (token, generation) = {
                let sent = self.sent();
                (sent.token.clone(), sent.generation)
            };
            if generation != challenge.generation && challenge.previous_challenges == 0 {
                return ChallengeAction::Retry;
            }
            let action = self.session.on_challenge(&challenge, token).await;
            match &self.host {
                Some((host, options)) if action == ChallengeAction::GiveUp => {
                    self.sign_in_after(&challenge, options, host).await
                }
                _ => action,
            }
        })
    }
}

impl fmt::Debug for OAuthAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OAuthAuthorizer").field(&self.session).finish()
    }
}
