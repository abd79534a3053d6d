//! Sends HTTP requests with the headers of the authorizer, and lets it deal with challenges.

use std::sync::Arc;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};

use super::authorize::{Authorizer, Challenge, Verdict};
use crate::http_client::{HttpClient, Origin, Outgoing, Reach, Redirects, Response, Target};
use crate::redact::Redactor;
use crate::session::{RequestError, TraceEvent, Tracer};

/// How many characters of a server's own words are kept.
const EXCERPT: usize = 200;

/// The way out to one server.
pub(crate) struct Door {
    client: HttpClient,
    authorizer: Arc<dyn Authorizer>,
    /// The server that credentials are meant for.
    home: Origin,
    tracer: Option<Arc<dyn Tracer>>,
}

/// One HTTP request, without what the authorizer adds.
pub(crate) struct Posting<'a> {
    pub(crate) method: &'a Method,
    pub(crate) address: &'a Address,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Bytes,
    pub(crate) redirects: Redirects,
}

/// Where a server is, and how it is known that it is there.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) target: Target,
    pub(crate) reach: Reach,
}

impl Address {
    /// An address that a person wrote.
    pub(crate) fn written(target: Target) -> Self {
        Self { target, reach: Reach::Anywhere }
    }

    /// The address that an answer came from.
    pub(crate) fn of(response: &Response) -> Self {
        Self { target: response.target.clone(), reach: response.reach }
    }
}

impl Door {
    pub(crate) fn new(client: HttpClient, authorizer: Arc<dyn Authorizer>, home: Origin) -> Self {
        Self { client, authorizer, home, tracer: None }
    }

    /// Shows everything that goes through it to somebody.
    pub(crate) fn traced(self, tracer: Option<Arc<dyn Tracer>>) -> Self {
        Self { tracer, ..self }
    }

    /// Returns the beginning of what a server says about a request that failed, without what was
    /// sent to it as a secret: many servers repeat the token that they do not like.
    pub(crate) async fn excerpt(&self, target: &Target, body: &[u8]) -> String {
        let mut hidden = target.secrets();
        for value in self.authorizer.headers().await.values() {
            let Ok(value) = value.to_str() else { continue };
            // `Bearer x`: what is repeated may be the `x` alone.
            hidden.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
            hidden.push(value.to_owned());
        }
        let text = String::from_utf8_lossy(body);
        let text = Redactor::new(hidden).redact(&text);
        let is_page = text.trim_start().starts_with('<');
        if is_page { String::new() } else { text.trim().chars().take(EXCERPT).collect() }
    }

    /// Sends a request; a challenged one was not executed and may be repeated.
    ///
    /// The headers of the protocol win over those of the authorizer. A server that the first one
    /// redirected to gets none of them, and its challenges are not for the authorizer either.
    pub(crate) async fn send(&self, posting: Posting<'_>) -> Result<Response, RequestError> {
        let Address { target, reach } = posting.address;
        let is_home = *target.origin() == self.home;
        let mut earlier = 0;
        loop {
            let mut all = if is_home { self.authorizer.headers().await } else { HeaderMap::new() };
            let generation = self.authorizer.generation();
            let carries_credentials = !all.is_empty();
            for (name, value) in posting.headers {
                all.insert(name, value.clone());
            }
            let outgoing = Outgoing {
                method: posting.method.clone(),
                target: target.clone(),
                headers: all,
                body: posting.body.clone(),
                carries_credentials,
                redirects: posting.redirects,
                reach: *reach,
            };
            if let Some(tracer) = &self.tracer {
                let (method, headers) = (posting.method, &outgoing.headers);
                tracer.record(TraceEvent::HttpRequest { method, target, headers });
                if !posting.body.is_empty() {
                    tracer.record(TraceEvent::Sent(posting.body));
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
            let demands: Vec<_> =
                response.headers.get_all(WWW_AUTHENTICATE).iter().cloned().collect();
            let challenge = demands.first().and_then(|it| it.to_str().ok()).map(str::to_owned);
            if *response.target.origin() != self.home {
                return Err(RequestError::Unauthorized { status, challenge });
            }
            let challenged = Challenge { status, demands, earlier, generation };
            let verdict = self.authorizer.challenged(challenged).await;
            if verdict == Verdict::GiveUp {
                return Err(RequestError::Unauthorized { status, challenge });
            }
            earlier += 1;
        }
    }
}
