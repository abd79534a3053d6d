//! The stored token of a server in the header `Authorization`, without OAuth: it is read from the
//! store again after a 401, because another program may have replaced it.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use wharf_protocol::transport::{AuthorizedRequest, Challenge, ChallengeAction};

use super::{credentials, headers};
use crate::credentials::StoreAccess;
use crate::trust_gate::TrustedServer;

/// Where the stored token of a server comes from.
pub(super) struct TokenSource {
    pub(super) server: Arc<TrustedServer>,
    pub(super) store: StoreAccess,
}

/// What the next request carries instead of the header that it has: never anything.
pub(super) type NextToken = Option<(Option<HeaderValue>, HeaderMap)>;

impl TokenSource {
    /// Returns the token for a request: the header as it is.
    #[expect(clippy::unused_self, reason = "the same signature as with OAuth")]
    pub(super) fn next(&self, _: AuthorizedRequest<'_>) -> impl Future<Output = NextToken> + use<> {
        std::future::ready(None)
    }

    /// Returns the token that is stored now, for the caller to decide.
    pub(super) async fn renew(
        &self,
        _: &Challenge,
        _: &HeaderMap,
    ) -> Result<ChallengeAction, Option<HeaderValue>> {
        let found = credentials::find(&self.server, &self.store).await.ok().flatten();
        Err(found.and_then(|found| headers::bearer(&found.credential.token).ok()))
    }

    /// Receives the headers of a response, which say nothing about a fixed token.
    #[expect(clippy::unused_self, reason = "the same signature as with OAuth")]
    pub(super) fn on_response(&self, _: &HeaderMap) {}
}
