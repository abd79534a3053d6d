//! The hook through which the runtime adds headers to HTTP requests and handles 401 and 403.

use std::fmt;

use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::BoxFuture;
use crate::http_client::HttpTarget;

/// The request that headers are for.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizedRequest<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target.
    pub target: &'a HttpTarget,
}

/// A 401 or 403 response.
#[derive(Debug, Clone)]
pub struct Challenge {
    /// 401 or 403.
    pub status: StatusCode,
    /// The `WWW-Authenticate` headers, unchanged.
    pub www_authenticate: Vec<HeaderValue>,
    /// The nonce for proofs of possession (`DPoP-Nonce`).
    pub nonce: Option<HeaderValue>,
    /// How many challenges this request got before this one.
    pub previous_challenges: usize,
    /// The [`Authorizer::generation`] of the headers that the request carried.
    pub generation: u64,
}

/// What to do after a challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengeAction {
    /// Get the headers again and send the request again; the server has not executed it.
    Retry,
    /// The same, because the server only asks for its nonce. Not counted as a challenge.
    RetryWithNonce,
    /// Report that the credentials could not be renewed now. Nothing says that they are bad, so a
    /// later attempt may work.
    TryLater {
        /// Why; without secrets.
        reason: String,
    },
    /// Report the challenge to the caller.
    GiveUp,
}

/// Adds headers to requests and handles challenges. A panic fails the request that it was called
/// for, and no other.
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the headers of the next request; all of them are treated as secret. It may renew
    /// them, which takes time.
    fn headers<'a>(&'a self, request: AuthorizedRequest<'a>) -> BoxFuture<'a, HeaderMap>;

    /// Returns the headers as they are, to redact them in what the server says.
    fn secret_headers(&self) -> HeaderMap;

    /// Receives the headers of each response, which may have a new nonce.
    fn on_response(&self, headers: &HeaderMap) {
        let _ = headers;
    }

    /// Returns a number that changes whenever the headers change. It tells whether a challenge is
    /// about the current headers or about older ones.
    fn generation(&self) -> u64 {
        0
    }

    /// Decides what to do after a challenge.
    fn on_challenge(&self, challenge: Challenge) -> BoxFuture<'_, ChallengeAction>;
}

/// Adds the same headers to every request and gives up after a challenge.
#[derive(Clone, Default)]
pub struct FixedHeaders(pub HeaderMap);

/// Prints only the names: the values are secret.
impl fmt::Debug for FixedHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FixedHeaders").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

impl Authorizer for FixedHeaders {
    fn headers<'a>(&'a self, _: AuthorizedRequest<'a>) -> BoxFuture<'a, HeaderMap> {
        Box::pin(std::future::ready(self.0.clone()))
    }

    fn secret_headers(&self) -> HeaderMap {
        self.0.clone()
    }

    fn on_challenge(&self, _: Challenge) -> BoxFuture<'_, ChallengeAction> {
        Box::pin(std::future::ready(ChallengeAction::GiveUp))
    }
}
