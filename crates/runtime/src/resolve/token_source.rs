//! The stored token of a server in the header `Authorization`.
//!
//! With OAuth, a session renews the token. Otherwise it is read from the store again after a 401:
//! another program may have replaced it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use wharf_config::Secret;
use wharf_protocol::transport::{AuthorizedRequest, Challenge, ChallengeAction};

use super::{credentials, headers};
#[cfg(feature = "oauth")]
use crate::auth::{OAuthSession, PROOF};
use crate::credentials::StoreAccess;
use crate::trust_gate::TrustedServer;

/// Where the stored token of a server comes from.
pub(super) struct TokenSource {
    pub(super) server: Arc<TrustedServer>,
    pub(super) store: StoreAccess,
    /// The sign-in state; none if the server is not reached over the network.
    #[cfg(feature = "oauth")]
    pub(super) session: Option<Arc<OAuthSession>>,
}

/// What the next request carries.
pub(super) enum NextToken {
    /// The header as it is.
    Unchanged,
    /// This header, and a proof for this request.
    #[cfg(feature = "oauth")]
    Replaced { authorization: Option<HeaderValue>, proof: HeaderMap },
}

impl TokenSource {
    /// Returns the token for a request; renews it if it is about to expire.
    #[cfg(feature = "oauth")]
    pub(super) async fn next(&self, request: AuthorizedRequest<'_>) -> NextToken {
        let Some(session) = &self.session else { return NextToken::Unchanged };
        let Some(current) = session.token().await else {
            return NextToken::Replaced { authorization: None, proof: HeaderMap::new() };
        };
        let authorization = headers::authorization(current.token_type, &current.token).ok();
        let proof = session.proof(request, &current).map(|proof| (PROOF, proof));
        NextToken::Replaced { authorization, proof: proof.into_iter().collect() }
    }

    /// Returns the token for a request.
    #[cfg(not(feature = "oauth"))]
    pub(super) async fn next(&self, _: AuthorizedRequest<'_>) -> NextToken {
        std::future::ready(NextToken::Unchanged).await
    }

    /// Renews the token after a challenge to a request that carried these headers. `None` leaves the
    /// decision to the caller, who gets the header to send.
    pub(super) async fn renew(
        &self,
        challenge: &Challenge,
        sent: &HeaderMap,
    ) -> Result<ChallengeAction, Option<HeaderValue>> {
        #[cfg(feature = "oauth")]
        if let Some(session) = &self.session {
            return Ok(session.on_challenge(challenge, sent_token(sent)).await);
        }
        let _ = (challenge, sent);
        let found = credentials::find(&self.server, &self.store).await.ok().flatten();
        Err(found.and_then(|found| headers::bearer(&found.credential.token).ok()))
    }

    /// Receives the headers of a response.
    pub(super) fn on_response(&self, headers: &HeaderMap) {
        #[cfg(feature = "oauth")]
        if let Some(session) = &self.session {
            session.on_response(headers);
        }
        let _ = headers;
    }
}

/// Returns the token that headers carry.
#[cfg(feature = "oauth")]
fn sent_token(sent: &HeaderMap) -> Option<Secret> {
    let (_, token) = sent.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(Secret::new(token))
}
