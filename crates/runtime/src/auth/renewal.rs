//! Renews the token of a session, under the lock of the credential.
//!
//! A refresh token may be used once, so the store must be writable before it is spent: the
//! credential is written first as it is, which fails on a full disk while nothing is lost. A failed
//! renewal never removes or changes the stored credential.

use tokio::time::Instant;
use url::Url;
use wharf_config::{Credential, OAuthGrant, Secret};
use wharf_protocol::transport::BoxFuture;

use super::dpop::DpopKey;
use super::error::SignInError;
use super::grants::TokenContext;
use super::issuer_trust::IssuerTrust;
use super::options::SignInOptions;
use super::prompt::{SignInHost, SignInProgress, SignInPrompt};
use super::registration::{configured_key, configured_secret};
use super::renewal_tasks::UnfinishedRenewal;
use super::requests::{OAuthRequests, safe_url};
use super::session::{OAuthSession, SessionEvent, Unsaved};
use super::sign_in::take;
use super::token::{ClientIdentity, IssuedToken};
use crate::credentials::StoredCredential;

/// The host of a sign-in without a person.
struct NoPerson;

impl SignInPrompt for NoPerson {
    fn show(&self, _: &SignInProgress) {}

    fn pasted(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

impl OAuthSession {
    /// Signs in with the credentials of the program.
    pub(super) async fn sign_in_alone(&self) -> Result<(), SignInError> {
        let host = SignInHost::new(NoPerson);
        Box::pin(self.sign_in_for_server(&SignInOptions::default(), &host)).await.map(drop)
    }

    /// Requests the next token and stores it. The caller holds the lock.
    pub(super) async fn request_renewal(
        &self,
        current: StoredCredential,
    ) -> Result<(), SignInError> {
        let StoredCredential { id, mut credential, .. } = current;
        let Some(grant) = credential.oauth.clone() else { return Err(SignInError::NotRenewable) };
        let mut is_read_only = false;
        if let Err(error) = self.context.store.put(&id, &credential).await {
            if !error.is_read_only() {
                return Err(SignInError::Store(error));
            }
            is_read_only = true;
        }
        let over = self.stored_token(&credential.token);
        let _unfinished = UnfinishedRenewal::begin();
        let issued = match self.request_next(&grant, &credential).await {
            Ok(issued) => issued,
            Err(error) => {
                if is_final(&error) {
                    let is_about_client = is_about_client(&error);
                    self.refuse(grant.refresh_token.clone(), is_about_client);
                }
                return Err(error);
            }
        };
        take(&mut credential, issued);
        let mut unsaved = is_read_only.then_some(Unsaved { over: over.clone(), try_again: None });
        if !is_read_only && let Err(error) = self.context.store.put(&id, &credential).await {
            // This program goes on with the new token, and stores it as soon as it can.
            tracing::warn!(%error, "a renewed token could not be stored");
            unsaved = Some(Unsaved { over, try_again: Some(Instant::now()) });
        }
        let expires_at = credential.oauth.as_ref().and_then(|grant| grant.expires_at);
        self.replace(StoredCredential::new(id, credential), unsaved);
        self.report(SessionEvent::Renewed { expires_at });
        Ok(())
    }

    async fn request_next(
        &self,
        grant: &OAuthGrant,
        credential: &Credential,
    ) -> Result<IssuedToken, SignInError> {
        let settings = &self.server.settings;
        let (server, stored) = (&self.server.url, Some(credential));
        let issuer = credential.issuer.as_deref().unwrap_or_default();
        IssuerTrust { server, settings, stored }.check(issuer, grant.kind)?;
        let (http, pinned) = (self.context.http.clone(), settings.issuer.as_deref());
        let requests = OAuthRequests::for_server(http, server, pinned);
        let endpoint = safe_url(&grant.token_endpoint).ok_or(SignInError::NotRenewable)?;
        let dpop = self.dpop();
        let context = TokenContext {
            requests: &requests,
            endpoint: &endpoint,
            client: self.identity(grant, credential),
            resource: grant.resource.as_deref(),
            scopes: &grant.scopes,
            dpop: dpop.as_deref(),
        };
        let request = async || match &grant.refresh_token {
            Some(token) => context.refresh(token).await,
            None => context.without_person(grant.kind, settings, &self.context.http).await,
        };
        match request().await {
            // Nothing was sent, for example because a pooled connection was closed.
            Err(error) if super::requests::never_sent(&error) => request().await,
            outcome => outcome,
        }
    }

    pub(super) fn identity<'a>(
        &'a self,
        grant: &'a OAuthGrant,
        credential: &'a Credential,
    ) -> ClientIdentity<'a> {
        ClientIdentity {
            client: &grant.client,
            configured_secret: configured_secret(&grant.client, &self.server.settings),
            key: configured_key(&grant.client, &self.server.settings),
            issuer: credential.issuer.as_deref().unwrap_or_default(),
            methods: &[],
            algorithms: &[],
        }
    }
}

/// Tells whether the refresh token, or the client, is refused for good.
fn is_final(error: &SignInError) -> bool {
    const FINAL: [&str; 4] =
        ["invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type"];
    matches!(error, SignInError::Refused(refusal) if FINAL.contains(&&*refusal.code))
}

/// Tells whether the issuer does not know the client any more.
fn is_about_client(error: &SignInError) -> bool {
    matches!(error, SignInError::Refused(refusal) if refusal.code == "invalid_client")
}

/// What a revocation needs.
pub(super) struct RevocationTarget<'a> {
    pub(super) requests: OAuthRequests,
    pub(super) endpoint: Url,
    pub(super) client: ClientIdentity<'a>,
    pub(super) dpop: Option<&'a DpopKey>,
}

impl RevocationTarget<'_> {
    /// Revokes a token (RFC 7009).
    pub(super) async fn revoke(&self, token: &Secret, hint: &str) -> Result<(), SignInError> {
        let form = vec![("token", token.expose().to_owned()), ("token_type_hint", hint.to_owned())];
        let sent =
            super::token::post(&self.requests, &self.endpoint, &self.client, &form, self.dpop);
        let response = sent.await?;
        if let Some(refusal) = response.json.as_ref().and_then(super::token::refusal) {
            return Err(SignInError::Refused(refusal));
        }
        if !(200..300).contains(&response.status) {
            let (address, status) = (super::requests::shown(&self.endpoint), response.status);
            return Err(SignInError::Status { address, status });
        }
        Ok(())
    }
}
