//! The hook through which the runtime adds headers to requests and answers challenges.

use std::future::Future;
use std::pin::Pin;

use http::{HeaderMap, HeaderValue, StatusCode};

/// A future without a name.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a server said when it wanted to know who asks.
#[derive(Debug, Clone)]
pub struct Challenge {
    /// 401 or 403.
    pub status: StatusCode,
    /// The `WWW-Authenticate` headers, as they came.
    pub www_authenticate: Vec<HeaderValue>,
    /// How often this request was challenged before.
    pub previous_challenges: usize,
    /// The [`Authorizer::generation`] of the headers that the request carried.
    pub generation: u64,
}

/// What to do about a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengeAction {
    /// Ask for the headers again and repeat the request, which was not executed.
    Retry,
    /// Report the challenge to the caller.
    GiveUp,
}

/// Adds headers to requests and deals with challenges.
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the headers of the next request; everything in them is treated as secret.
    fn headers(&self) -> BoxFuture<'_, HeaderMap>;

    /// Returns a number that changes whenever the headers do, so that a challenge to an earlier
    /// request can be told from one to the current headers.
    fn generation(&self) -> u64 {
        0
    }

    /// Decides what happens after a challenge.
    fn on_challenge(&self, challenge: Challenge) -> BoxFuture<'_, ChallengeAction>;
}

/// Adds always the same headers and has no answer to challenges.
#[derive(Clone, Default)]
pub struct FixedHeaders(pub HeaderMap);

impl Authorizer for FixedHeaders {
    fn headers(&self) -> BoxFuture<'_, HeaderMap> {
        Box::pin(std::future::ready(self.0.clone()))
    }

    fn on_challenge(&self, _: Challenge) -> BoxFuture<'_, ChallengeAction> {
        Box::pin(std::future::ready(ChallengeAction::GiveUp))
    }
}
