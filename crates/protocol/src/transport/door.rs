//! Sends HTTP requests with the headers of the authorizer, and lets it deal with challenges.

use std::sync::Arc;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};

use super::authorize::{Authorizer, Challenge, Verdict};
use super::client::{HttpClient, Outgoing, Response, Target};
use crate::peer::RequestError;
use crate::redact::Redactor;

/// How many characters of a server's own words are kept.
const EXCERPT: usize = 200;

/// The way out to one server.
pub(crate) struct Door {
    client: HttpClient,
    authorizer: Arc<dyn Authorizer>,
}

impl Door {
    pub(crate) fn new(client: HttpClient, authorizer: Arc<dyn Authorizer>) -> Self {
        Self { client, authorizer }
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
    /// The headers of the protocol win over those of the authorizer.
    pub(crate) async fn send(
        &self,
        method: &Method,
        target: &Target,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Response, RequestError> {
        let mut earlier = 0;
        loop {
            let mut all = self.authorizer.headers().await;
            let carries_credentials = !all.is_empty();
            for (name, value) in headers {
                all.insert(name, value.clone());
            }
            let outgoing = Outgoing {
                method: method.clone(),
                target: target.clone(),
                headers: all,
                body: body.clone(),
                carries_credentials,
            };
            let response = self.client.send(outgoing).await;
            let response = response.map_err(|error| RequestError::Http(Arc::new(error)))?;
            let status = response.status;
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(response);
            }
            let demands: Vec<_> =
                response.headers.get_all(WWW_AUTHENTICATE).iter().cloned().collect();
            let challenge = demands.first().and_then(|it| it.to_str().ok()).map(str::to_owned);
            let verdict = self.authorizer.challenged(Challenge { status, demands, earlier }).await;
            if verdict == Verdict::GiveUp {
                return Err(RequestError::Unauthorized { status, challenge });
            }
            earlier += 1;
        }
    }
}
