//! Signs out: revokes the tokens where the issuer offers that, and removes the credential.
//!
//! The credential is removed also if the issuer cannot be reached; the caller learns about it.

use super::error::SignInError;
use super::outcome::{Revocation, SignedOut};
use super::renewal::RevocationTarget;
use super::requests::{OAuthRequests, safe_url};
use super::session::OAuthSession;
use crate::credentials::StoredCredential;

impl OAuthSession {
    /// Revokes and removes the credential of an account; without one, that of the entry.
    pub(crate) async fn sign_out(&self, account: Option<&str>) -> Result<SignedOut, SignInError> {
        let account = account.or(self.server.account.as_deref());
        let stored = self.stored(account).await?.or_else(|| self.unsaved_of(account));
        let Some(stored) = stored else { return Err(SignInError::NotSignedIn) };
        let lock = self.lock(&stored.id).await?;
        // Another process may have renewed it since.
        let again = self.stored(account).await?.filter(|again| again.id == stored.id);
        let stored = again.unwrap_or(stored);
        let revocation = self.revoke(&stored).await;
        self.context.store.remove(&stored.id).await?;
        drop(lock);
        if self.current().is_some_and(|current| current.id == stored.id) {
            self.forget();
        }
        Ok(SignedOut { id: stored.id, revocation })
    }

    async fn revoke(&self, stored: &StoredCredential) -> Revocation {
        let credential = &stored.credential;
        let Some(grant) = credential.oauth.as_deref() else { return Revocation::NotOffered };
        let endpoint = grant.revocation_endpoint.as_deref().and_then(safe_url);
        let Some(endpoint) = endpoint else { return Revocation::NotOffered };
        let (http, pinned) = (self.context.http.clone(), self.server.settings.issuer.as_deref());
        let requests = OAuthRequests::for_server(http, &self.server.url, pinned);
        let dpop = self.dpop();
        let target = RevocationTarget {
            requests,
            endpoint,
            client: self.identity(grant, credential),
            dpop: dpop.as_deref(),
        };
        let mut outcome = Ok(());
        if let Some(token) = &grant.refresh_token {
            outcome = target.revoke(token, "refresh_token").await;
        }
        let access = target.revoke(&credential.token, "access_token").await;
        match outcome.and(access) {
            Ok(()) => Revocation::Revoked,
            Err(error) => Revocation::Failed { reason: error.to_string() },
        }
    }
}
