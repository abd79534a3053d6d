//! The event stream, the endpoint that it names, and the POST requests to that endpoint.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::sync::oneshot;

use crate::Json;
use crate::http_client::{HttpTarget, RedirectPolicy};
use crate::session::{
    EndReason, MessageSender, RequestError, RequestOutcome, SessionCore, SessionEnd, TraceEvent,
    cancel_notification, wait_for_outcome,
};
use crate::transport::authorized_client::{MAX_ERROR_BODY, redirect_policy};
use crate::transport::event_stream::EventStream;
use crate::transport::{AuthorizedClient, RequestParts, ServerAddress};

/// A connection over HTTP+SSE.
pub(crate) struct HttpSse {
    core: Arc<SessionCore>,
    client: AuthorizedClient,
    endpoint: ServerAddress,
    /// The address that accepted the first message; it differs from `endpoint` after a redirect.
    final_address: OnceLock<ServerAddress>,
}

impl HttpSse {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(
        core: Arc<SessionCore>,
        client: AuthorizedClient,
        target: &HttpTarget,
    ) -> Result<Arc<Self>, RequestError> {
        let headers = header(ACCEPT, "text/event-stream");
        let (method, body, address) =
            (Method::GET, Bytes::new(), ServerAddress::configured(target.clone()));
        let parts = RequestParts {
            method: &method,
            address: &address,
            headers: &headers,
            body: &body,
            redirects: RedirectPolicy::Follow,
        };
        let response = client.send(parts).await?;
        if !response.status.is_success() {
            return Err(RequestError::Status { status: response.status, excerpt: String::new() });
        }
        let here = ServerAddress::from_response(&response);
        let mut events = EventStream::new(response.body, core.limits.message);
        let target = read_endpoint(&mut events, &here.target).await?;
        let endpoint = ServerAddress { target, ..here };
        let transport = Arc::new(Self {
            core: Arc::clone(&core),
            client,
            endpoint,
            final_address: OnceLock::new(),
        });
        let reader = Arc::clone(&transport);
        core.spawn(async move {
            let reason = tokio::select! {
                () = reader.core.stop.cancelled() => EndReason::Closed,
                () = reader.read(events) => EndReason::StreamClosed,
            };
            reader.core.end(SessionEnd { reason, stderr: String::new() }, &[]);
        });
        Ok(transport)
    }

    /// Sends a request and waits for its response on the stream.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        method: &str,
        message: Vec<u8>,
        answer: oneshot::Receiver<RequestOutcome>,
    ) -> Result<Json, RequestError> {
        let posted = async {
            match self.post(message, redirect_policy(method)).await {
                Ok(()) => std::future::pending().await,
                Err(error) => error,
            }
        };
        // The response may arrive on the stream before the POST is acknowledged.
        tokio::select! {
            biased;
            outcome = wait_for_outcome(answer) => outcome,
            error = posted => Err(error),
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(self: &Arc<Self>, message: Vec<u8>) -> Result<(), RequestError> {
        self.post(message, RedirectPolicy::Follow).await
    }

    /// Tells the server that a request is cancelled. Returns `false`: it may have been sent.
    pub(crate) fn cancel(self: &Arc<Self>, id: u64, method: &str) -> bool {
        if method != "initialize" {
            Arc::clone(self).send_message(cancel_notification(id));
        }
        false
    }

    async fn post(
        self: &Arc<Self>,
        message: Vec<u8>,
        redirects: RedirectPolicy,
    ) -> Result<(), RequestError> {
        let headers = header(CONTENT_TYPE, "application/json");
        let body = Bytes::from(message);
        let parts = RequestParts {
            method: &Method::POST,
            address: self.final_address.get().unwrap_or(&self.endpoint),
            headers: &headers,
            body: &body,
            redirects,
        };
        let response = self.client.send(parts).await?;
        if response.status.is_success() {
            self.final_address.get_or_init(|| ServerAddress::from_response(&response));
        }
        let status = response.status;
        let is_json = is_json(&response.headers);
        let limit = if status.is_success() { self.core.limits.message } else { MAX_ERROR_BODY };
        let body = response.body.collect(limit).await.unwrap_or_default();
        if !status.is_success() {
            self.core.trace(TraceEvent::Received(&body));
            let excerpt = self.client.excerpt(&self.endpoint.target, &body);
            return Err(RequestError::Status { status, excerpt });
        }
        // A few servers put the response into the body of the POST.
        if is_json && !body.is_empty() {
            self.core.handle_text(&body, self);
        }
        Ok(())
    }

    async fn read(self: &Arc<Self>, mut events: EventStream) {
        while let Ok(Some(event)) = events.next().await {
            if event.name.as_deref() != Some("endpoint") && !event.data.trim_ascii().is_empty() {
                self.core.handle_text(&event.data, self);
            }
        }
    }
}

impl MessageSender for HttpSse {
    fn send_message(self: Arc<Self>, message: Vec<u8>) {
        let core = Arc::clone(&self.core);
        core.send_in_background(async move { self.post(message, RedirectPolicy::Follow).await });
    }
}

/// Reads until the `endpoint` event; the endpoint must have the origin of the server.
async fn read_endpoint(
    events: &mut EventStream,
    target: &HttpTarget,
) -> Result<HttpTarget, RequestError> {
    let invalid = |text: &str| RequestError::InvalidResponse(text.to_owned());
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => return Err(invalid("there is no endpoint event")),
            Err(RequestError::TooLarge { .. }) => {
                return Err(invalid("the first event is too large"));
            }
            Err(error) => return Err(error),
        };
        if event.name.as_deref() != Some("endpoint") {
            continue;
        }
        let text = String::from_utf8_lossy(&event.data).trim().to_owned();
        let endpoint = target.join(&text).map_err(|_| RequestError::EndpointOnOtherOrigin)?;
        if endpoint.origin() != target.origin() {
            return Err(RequestError::EndpointOnOtherOrigin);
        }
        return Ok(endpoint);
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.to_ascii_lowercase().starts_with("application/json")
}

fn header(name: HeaderName, value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
}
