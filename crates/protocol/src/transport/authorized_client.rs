//! Sends HTTP requests with the credentials of an [`Authorizer`], which also handles challenges.
//!
//! Credentials go to one origin only: after a redirect, another server gets none of them.

use std::sync::Arc;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};

use super::authorize::{AuthorizedRequest, Authorizer, Challenge, ChallengeAction};
use crate::http_client::{
    AddressPolicy, HttpClient, HttpResponse, HttpTarget, OutgoingRequest, RedirectPolicy, UrlOrigin,
};
use crate::redact::Redactor;
use crate::session::{RequestError, TraceEvent, Tracer, callbacks, trace};

/// How many bytes of an error response are read.
pub(super) const MAX_ERROR_BODY: usize = 64 << 10;

/// How often one request is repeated with a new nonce.
const MAX_NONCES: usize = 2;

/// How many characters of an error response are kept.
const MAX_EXCERPT: usize = 200;

/// An HTTP client for one server, with its credentials.
pub(crate) struct AuthorizedClient {
    client: HttpClient,
    authorizer: Arc<dyn Authorizer>,
    /// The only origin that gets the credentials.
    credentials_origin: UrlOrigin,
    tracer: Option<Arc<dyn Tracer>>,
}

/// One HTTP request, without the headers of the authorizer.
pub(crate) struct RequestParts<'a> {
    pub(crate) method: &'a Method,
    pub(crate) address: &'a ServerAddress,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Bytes,
    pub(crate) redirects: RedirectPolicy,
}

/// Tool calls are never sent twice, so their redirects are not followed.
pub(super) fn redirect_policy(method: &str) -> RedirectPolicy {
    if method == "tools/call" { RedirectPolicy::Return } else { RedirectPolicy::Follow }
}

/// The address of a server and what it may resolve to.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    pub(crate) target: HttpTarget,
    pub(crate) policy: AddressPolicy,
}

impl ServerAddress {
    /// An address from the configuration.
    pub(crate) fn configured(target: HttpTarget) -> Self {
        Self { target, policy: AddressPolicy::Any }
    }

    /// The address that sent a response.
    pub(crate) fn from_response(response: &HttpResponse) -> Self {
        Self { target: response.target.clone(), policy: response.policy }
    }
}

impl AuthorizedClient {
    pub(crate) fn new(
        client: HttpClient,
        authorizer: Arc<dyn Authorizer>,
        credentials_origin: UrlOrigin,
    ) -> Self {
        Self { client, authorizer, credentials_origin, tracer: None }
    }

    /// Passes every request and response to a tracer.
    pub(crate) fn with_tracer(self, tracer: Option<Arc<dyn Tracer>>) -> Self {
        Self { tracer, ..self }
    }

    /// Returns the start of an error response. Secrets that were sent to the server are redacted,
    /// because many servers repeat the token that they reject.
    pub(crate) fn excerpt(&self, target: &HttpTarget, body: &[u8]) -> String {
        let mut secrets = target.secrets();
        let Ok(sent) = callbacks::call(|| self.authorizer.secret_headers()) else {
            return String::new();
        };
        for value in sent.values() {
            let Ok(value) = value.to_str() else { continue };
            // Of `Bearer x`, the server may repeat the `x` alone.
            secrets.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
            secrets.push(value.to_owned());
        }
        let text = String::from_utf8_lossy(body);
        let text = Redactor::new(secrets).redact(&text);
        let is_page = text.trim_start().starts_with('<');
        if is_page { String::new() } else { text.trim().chars().take(MAX_EXCERPT).collect() }
    }

    /// Returns the headers of the authorizer, and their generation.
    async fn credentials(
        &self,
        request: AuthorizedRequest<'_>,
    ) -> Result<(HeaderMap, u64), RequestError> {
        let credentials =
            async || (self.authorizer.headers(request).await, self.authorizer.generation());
        callbacks::call_and_wait(credentials).await.map_err(|_| {
            RequestError::Unsendable("the program failed to provide the credentials".into())
        })
    }

    fn trace(&self, event: TraceEvent<'_>) {
        trace(self.tracer.as_ref(), event);
    }

    /// Sends a request, and again if the authorizer says so after a challenge.
    ///
    /// The headers of the protocol replace those of the authorizer. A server on another origin gets
    /// no headers of the authorizer, and its challenges are not passed to the authorizer.
    pub(crate) async fn send(&self, parts: RequestParts<'_>) -> Result<HttpResponse, RequestError> {
        let ServerAddress { target, policy } = parts.address;
        let is_credentials_origin = *target.origin() == self.credentials_origin;
        let (mut previous_challenges, mut nonces) = (0, 0);
        loop {
            let request = AuthorizedRequest { method: parts.method, target };
            let (mut all, generation) = if is_credentials_origin {
                self.credentials(request).await?
            } else {
                Default::default()
            };
            let carries_credentials = !all.is_empty();
            for (name, value) in parts.headers {
                all.insert(name, value.clone());
            }
            let outgoing = OutgoingRequest {
                method: parts.method.clone(),
                target: target.clone(),
                headers: all,
                body: parts.body.clone(),
                carries_credentials,
                redirects: parts.redirects,
                policy: *policy,
            };
            let (method, headers) = (parts.method, &outgoing.headers);
            self.trace(TraceEvent::HttpRequest { method, target, headers });
            if !parts.body.is_empty() {
                self.trace(TraceEvent::Sent(parts.body));
            }
            let response = self.client.send(outgoing).await?;
            let status = response.status;
            self.trace(TraceEvent::HttpResponse { status, headers: &response.headers });
            if *response.target.origin() == self.credentials_origin {
                // A panic of the program costs only the nonce.
                drop(callbacks::call(|| self.authorizer.on_response(&response.headers)));
            }
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(response);
            }
            let www_authenticate: Vec<_> =
                response.headers.get_all(WWW_AUTHENTICATE).iter().cloned().collect();
            let challenge =
                www_authenticate.first().and_then(|it| it.to_str().ok()).map(str::to_owned);
            if *response.target.origin() != self.credentials_origin {
                return Err(RequestError::Unauthorized { status, challenge });
            }
            let nonce = response.headers.get("dpop-nonce").cloned();
            let challenged =
                Challenge { status, www_authenticate, nonce, previous_challenges, generation };
            match callbacks::call_and_wait(|| self.authorizer.on_challenge(challenged)).await {
                Ok(ChallengeAction::Retry) => previous_challenges += 1,
                Ok(ChallengeAction::TryLater { reason }) => {
                    return Err(RequestError::NotRenewed { status, reason });
                }
                Ok(ChallengeAction::RetryWithNonce) if nonces < MAX_NONCES => nonces += 1,
                _ => return Err(RequestError::Unauthorized { status, challenge }),
            }
        }
    }
}
