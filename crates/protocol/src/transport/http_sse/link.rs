//! The stream, the address it names, and the requests that go there.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::sync::oneshot;

use crate::Json;
use crate::peer::{Answer, Core, EndReason, Ended, RequestError, Speaker, awaited, cancellation};
use crate::transport::Door;
use crate::transport::client::{Body, Target};
use crate::transport::events::Parser;

/// How much of the answer to a POST is looked at.
const SMALL: usize = 64 << 10;

/// A server behind an event stream.
pub(crate) struct HttpSse {
    core: Arc<Core>,
    door: Door,
    endpoint: Target,
}

impl HttpSse {
    /// Opens the stream and waits for the address to post to.
    pub(crate) async fn open(
        core: Arc<Core>,
        door: Door,
        target: &Target,
    ) -> Result<Arc<Self>, RequestError> {
        let headers = header(ACCEPT, "text/event-stream");
        let response = door.send(&Method::GET, target, &headers, &Bytes::new()).await?;
        if !response.status.is_success() {
            return Err(RequestError::Status { status: response.status, excerpt: String::new() });
        }
        let mut body = response.body;
        let mut parser = Parser::new(core.limits.message);
        let endpoint = endpoint(&mut body, &mut parser, &response.target).await?;
        let link = Arc::new(Self { core: Arc::clone(&core), door, endpoint });
        let reader = Arc::clone(&link);
        core.spawn(async move {
            let reason = tokio::select! {
                () = reader.core.stop.cancelled() => EndReason::Closed,
                () = reader.read(body, parser) => EndReason::StreamClosed,
            };
            reader.core.end(Ended { reason, stderr: String::new() }, &[]);
        });
        Ok(link)
    }

    /// Sends a request and waits for its answer on the stream.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        message: Vec<u8>,
        answer: oneshot::Receiver<Answer>,
    ) -> Result<Json, RequestError> {
        let posted = async {
            match self.post(message).await {
                Ok(()) => std::future::pending().await,
                Err(error) => error,
            }
        };
        // The answer may be on the stream before the POST is acknowledged.
        tokio::select! {
            biased;
            outcome = awaited(answer) => outcome,
            error = posted => Err(error),
        }
    }

    /// Sends a notification.
    pub(crate) async fn tell(self: &Arc<Self>, message: Vec<u8>) -> Result<(), RequestError> {
        self.post(message).await
    }

    /// Tells the server that nobody waits for an answer; whether it was asked is not known.
    pub(crate) fn abandon(self: &Arc<Self>, id: u64, method: &str) -> bool {
        if method != "initialize" {
            Arc::clone(self).say(cancellation(id));
        }
        false
    }

    async fn post(self: &Arc<Self>, message: Vec<u8>) -> Result<(), RequestError> {
        let headers = header(CONTENT_TYPE, "application/json");
        let body = Bytes::from(message);
        let response = self.door.send(&Method::POST, &self.endpoint, &headers, &body).await?;
        let status = response.status;
        let is_json = is_json(&response.headers);
        let limit = if status.is_success() { self.core.limits.message } else { SMALL };
        let body = response.body.collect(limit).await.unwrap_or_default();
        if !status.is_success() {
            let excerpt = self.door.excerpt(&self.endpoint, &body).await;
            return Err(RequestError::Status { status, excerpt });
        }
        // A few servers answer right here.
        if is_json && !body.is_empty() {
            self.core.take(&body, self);
        }
        Ok(())
    }

    async fn read(self: &Arc<Self>, mut body: Body, mut parser: Parser) {
        loop {
            loop {
                let event = match parser.next_event() {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(_) => return,
                };
                if event.name.as_deref() == Some("endpoint") || event.data.trim_ascii().is_empty() {
                    continue;
                }
                self.core.take(&event.data, self);
            }
            match body.chunk().await {
                Ok(Some(chunk)) => parser.push(chunk),
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl Speaker for HttpSse {
    fn say(self: Arc<Self>, message: Vec<u8>) {
        let tasks = self.core.tasks.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = self.core.over.cancelled() => {}
                outcome = self.post(message) => if let Err(error) = outcome {
                    // The error may have words of the server.
                    let never_sent = error.never_sent();
                    tracing::debug!(never_sent, "the server did not take a message");
                }
            }
        });
    }
}

/// Reads until the server has said where to post to; that must be the server itself.
async fn endpoint(
    body: &mut Body,
    parser: &mut Parser,
    target: &Target,
) -> Result<Target, RequestError> {
    let nonsense = |text: &str| RequestError::Nonsense(text.to_owned());
    loop {
        while let Some(event) =
            parser.next_event().map_err(|_| nonsense("an endless first event"))?
        {
            if event.name.as_deref() != Some("endpoint") {
                continue;
            }
            let text = String::from_utf8_lossy(&event.data).trim().to_owned();
            let endpoint = target.join(&text).map_err(|_| RequestError::Elsewhere)?;
            if endpoint.origin() != target.origin() {
                return Err(RequestError::Elsewhere);
            }
            return Ok(endpoint);
        }
        match body.chunk().await {
            Ok(Some(chunk)) => parser.push(chunk),
            Ok(None) => return Err(nonsense("no endpoint event")),
            Err(error) => return Err(RequestError::Http(Arc::new(error))),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.to_ascii_lowercase().starts_with("application/json")
}

fn header(name: HeaderName, value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
}
