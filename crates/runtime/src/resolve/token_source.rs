//! The stored token of a server in the header `Authorization`.
//!
//! With OAuth, a session renews the token. Otherwise it is read from the store again after a 401:
//! another program may have replaced it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use wharf_config::Secret;
use wharf_protocol::transport::{AuthorizedRequest, Challenge, ChallengeAction};

use super::{credentials, headers};
use crate::auth::{OAuthSession, PROOF};
use crate::credentials::StoreAccess;
use crate::trust_gate::TrustedServer;

/// Where the stored token of a server comes from.
pub(super) struct TokenSource {
    pub(super) server: Arc<TrustedServer>,
    pub(super) store: StoreAccess,
    /// The sign-in state; none if the server is not reached over the network.
    pub(super) session: Option<Arc<OAuthSession>>,
    /// The generation of the token that the header has.
    pub(super) generation: AtomicU64,
}

/// What the next request carries instead of the header that it has: the header `Authorization`, and
/// the proof for this request. `None` if it carries the same as before.
pub(super) type NextToken = Option<(Option<HeaderValue>, HeaderMap)>;

impl TokenSource {
    /// Returns the token for a request; renews it if it is about to expire.
    pub(super) async fn next(&self, request: AuthorizedRequest<'_>) -> NextToken {
        let session = self.session.as_ref()?;
        let Some(current) = session.token().await else {
            return Some((None, HeaderMap::new()));
        };
        let proof = session.proof(request, &current).map(|proof| (PROOF, proof));
        let before = self.generation.swap(current.generation, Ordering::Relaxed);
        if proof.is_none() && before == current.generation {
            return None;
        }
        let authorization = headers::authorization(current.token_type(), current.token()).ok();
        Some((authorization, proof.into_iter().collect()))
    }

    /// Renews the token after a challenge to a request that carried these headers. `None` leaves the
    /// decision to the caller, who gets the header to send.
    pub(super) async fn renew(
        &self,
        challenge: &Challenge,
        sent: &HeaderMap,
    ) -> Result<ChallengeAction, Option<HeaderValue>> {
        if let Some(session) = &self.session {
            return Ok(session.on_challenge(challenge, sent_token(sent)).await);
        }
        let found = credentials::find(&self.server, &self.store).await.ok().flatten();
        Err(found.and_then(|found| headers::bearer(&found.credential.token).ok()))
    }

    /// Receives the headers of a response.
    pub(super) fn on_response(&self, headers: &HeaderMap) {
        if let Some(session) = &self.session {
            session.on_response(headers);
        }
    }
}

/// Returns the token that headers carry.
fn sent_token(sent: &HeaderMap) -> Option<Secret> {
    let (_, token) = sent.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(Secret::new(token))
}
