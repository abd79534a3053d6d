//! Sends HTTP requests with the headers of the authorizer, and lets it deal with challenges.

use std::sync::Arc;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};

use super::authorize::{Authorizer, Challenge, ChallengeAction};
use crate::http_client::{
    AddressPolicy, HttpClient, HttpResponse, HttpTarget, OutgoingRequest, RedirectPolicy, UrlOrigin,
};
use crate::redact::Redactor;
use crate::session::{RequestError, TraceEvent, Tracer};

/// How many characters of a server's own words are kept.
const MAX_EXCERPT: usize = 200;

/// The way out to one server.
pub(crate) struct AuthorizedClient {
    client: HttpClient,
    authorizer: Arc<dyn Authorizer>,
    /// The server that credentials are meant for.
    credentials_origin: UrlOrigin,
    tracer: Option<Arc<dyn Tracer>>,
}

/// One HTTP request, without what the authorizer adds.
pub(crate) struct RequestParts<'a> {
    pub(crate) method: &'a Method,
    pub(crate) address: &'a ServerAddress,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Bytes,
    pub(crate) redirects: RedirectPolicy,
}

/// Where a server is, and how it is known that it is there.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    pub(crate) target: HttpTarget,
    pub(crate) policy: AddressPolicy,
}

impl ServerAddress {
    /// An address that a person wrote.
    pub(crate) fn configured(target: HttpTarget) -> Self {
        Self { target, policy: AddressPolicy::Any }
    }

    /// The address that an answer came from.
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

    /// Shows everything that goes through it to somebody.
    pub(crate) fn with_tracer(self, tracer: Option<Arc<dyn Tracer>>) -> Self {
        Self { tracer, ..self }
    }

    /// Returns the beginning of what a server says about a request that failed, without what was
    /// sent to it as a secret: many servers repeat the token that they do not like.
    pub(crate) async fn excerpt(&self, target: &HttpTarget, body: &[u8]) -> String {
        let mut secrets = target.secrets();
        for value in self.authorizer.headers().await.values() {
            let Ok(value) = value.to_str() else { continue };
            // `Bearer x`: what is repeated may be the `x` alone.
            secrets.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
            secrets.push(value.to_owned());
        }
        let text = String::from_utf8_lossy(body);
        let text = Redactor::new(secrets).redact(&text);
        let is_page = text.trim_start().starts_with('<');
        if is_page { String::new() } else { text.trim().chars().take(MAX_EXCERPT).collect() }
    }

    /// Sends a request; a challenged one was not executed and may be repeated.
    ///
    /// The headers of the protocol win over those of the authorizer. A server that the first one
    /// redirected to gets none of them, and its challenges are not for the authorizer either.
    pub(crate) async fn send(&self, parts: RequestParts<'_>) -> Result<HttpResponse, RequestError> {
        let ServerAddress { target, policy } = parts.address;
        let is_credentials_origin = *target.origin() == self.credentials_origin;
        let mut previous_challenges = 0;
        loop {
            let mut all = if is_credentials_origin {
                self.authorizer.headers().await
            } else {
                HeaderMap::new()
            };
            let generation = self.authorizer.generation();
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
            if let Some(tracer) = &self.tracer {
                let (method, headers) = (parts.method, &outgoing.headers);
                tracer.record(TraceEvent::HttpRequest { method, target, headers });
                if !parts.body.is_empty() {
                    tracer.record(TraceEvent::Sent(parts.body));
                }
            }
            let response = self.client.send(outgoing).await;
            let response = response.map_err(|error| RequestError::Http(Arc::new(error)))?;
            let status = response.status;
            if let Some(tracer) = &self.tracer {
                let headers = &response.headers;
                tracer.record(TraceEvent::HttpResponse { status, headers });
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
            let challenged =
                Challenge { status, www_authenticate, previous_challenges, generation };
            let verdict = self.authorizer.on_challenge(challenged).await;
            if verdict == ChallengeAction::GiveUp {
                return Err(RequestError::Unauthorized { status, challenge });
            }
            previous_challenges += 1;
        }
    }
}
