//! Sends one message over Streamable HTTP. Detects session expiry: if the server does not know a
//! legacy session any more, the session is renewed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::{Semaphore, oneshot};

use super::response_reader::{self, ErrorSubject, ResponseReader};
use super::session::{SessionSnapshot, StreamableSession};
use crate::Json;
use crate::envelope;
use crate::era::{Revision, header_value, naming_parameter};
use crate::http_client::{HttpResponse, HttpTarget, RedirectPolicy};
use crate::scan::{self, decode_string};
use crate::session::{
    ClientRequest, EndReason, MessageSender, RequestError, RequestOutcome, SessionCore, SessionEnd,
    SessionViolation, TraceEvent, cancel_notification, is_about_request, wait_for_outcome,
};
use crate::transport::authorized_client::{MAX_ERROR_BODY, redirect_policy};
use crate::transport::{AuthorizedClient, RequestParts, ServerAddress};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long the DELETE of a session may take.
const DELETE_LIMIT: Duration = Duration::from_millis(500);

/// A connection over Streamable HTTP.
pub(crate) struct StreamableHttp {
    pub(super) core: Arc<SessionCore>,
    pub(super) session: StreamableSession,
    client: AuthorizedClient,
    address: ServerAddress,
    /// The address for all requests once the revision is known; a redirect may have led there.
    final_address: OnceLock<ServerAddress>,
    /// The address that sent the latest response while connecting.
    latest_address: Mutex<Option<ServerAddress>>,
    /// Held while the session is renewed, so that it is renewed once.
    renewal_lock: Semaphore,
}

/// One HTTP request of a session.
pub(super) struct SessionRequest<'a> {
    pub(super) method: Method,
    pub(super) snapshot: &'a SessionSnapshot,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) redirects: RedirectPolicy,
}

impl StreamableHttp {
    pub(crate) fn new(
        core: Arc<SessionCore>,
        client: AuthorizedClient,
        target: HttpTarget,
    ) -> Arc<Self> {
        let ending = Arc::clone(&core);
        // HTTP has no connection that could end, so the session ends only when it is closed.
        core.tasks.spawn(async move {
            ending.stop.cancelled().await;
            ending.end(SessionEnd { reason: EndReason::Closed, stderr: String::new() }, &[]);
        });
        Arc::new(Self {
            core,
            session: StreamableSession::default(),
            client,
            address: ServerAddress::configured(target),
            final_address: OnceLock::new(),
            latest_address: Mutex::default(),
            renewal_lock: Semaphore::new(1),
        })
    }

    /// Sets the revision and keeps the address that redirects have led to.
    pub(crate) fn finish_negotiation(&self, revision: Revision) {
        self.session.set_revision(revision);
        let latest = self.latest_address.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.final_address.get_or_init(|| latest.unwrap_or_else(|| self.address.clone()));
    }

    /// Sends a request and reads its response, which may also arrive on another stream.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        request: &ClientRequest<'_>,
        body: Bytes,
        mut answer: oneshot::Receiver<RequestOutcome>,
    ) -> Result<Json, RequestError> {
        let mut has_renewed = false;
        loop {
            let snapshot = self.snapshot_for(request.method);
            let headers = headers(request, &snapshot);
            let outgoing = SessionRequest {
                method: Method::POST,
                snapshot: &snapshot,
                headers,
                body: body.clone(),
                redirects: redirect_policy(request.method),
            };
            let response = self.send(outgoing).await?;
            if request.method == "initialize" && response.status.is_success() {
                self.session.start(request.params, &response.headers);
            } else {
                self.session.update_id(&response.headers);
            }
            if response.status.is_success() {
                let reader = ResponseReader { http: self, id: request.id, snapshot: &snapshot };
                return match reader.read(response, &mut answer).await? {
                    Some(result) => Ok(result),
                    // Accepted without a response: it may arrive on another stream.
                    None => wait_for_outcome(answer).await,
                };
            }
            let failure = FailedResponse::read(response).await;
            if let Some(body) = failure.body.as_ref().filter(|body| !body.is_empty()) {
                self.core.trace(TraceEvent::Received(body));
            }
            let has_session = snapshot.id.is_some() && !snapshot.is_modern();
            let loss = failure.session_loss(request.id);
            if !has_renewed && has_session && loss != SessionLoss::None {
                has_renewed = true;
                let renewal = self.renew(snapshot.generation).await;
                // A 400 does not prove that a call did not run, so it is not repeated.
                if loss == SessionLoss::Certain || request.method != "tools/call" {
                    renewal?;
                    continue;
                }
            }
            return Err(self.request_error(failure, request.id));
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(self: &Arc<Self>, message: Vec<u8>) -> Result<(), RequestError> {
        let method = match envelope::read(Bytes::copy_from_slice(&message)) {
            Ok(envelope::Received::One(envelope::Message::Notification(it))) => Some(it.method),
            _ => None,
        };
        let snapshot = self.session.snapshot();
        let mut headers = HeaderMap::new();
        if snapshot.is_modern()
            && let Some(method) = method.as_deref().and_then(header_value)
        {
            headers.insert(METHOD, method);
        }
        let body = Bytes::from(message);
        let response =
            self.send(SessionRequest::redirectable(Method::POST, &snapshot, headers, body)).await?;
        if response.status.is_success() {
            // The body is not needed, but the connection is reusable only once it is read.
            drop(response.body.collect(MAX_ERROR_BODY).await);
        } else {
            self.core.violations.add(SessionViolation::Other("refuses notifications".into()));
        }
        Ok(())
    }

    /// Cancels a request. Returns `false`: it may have been sent.
    pub(crate) fn cancel(self: &Arc<Self>, id: u64, method: &str) -> bool {
        // To a modern server, the closed stream means that the request is cancelled.
        if method != "initialize" && !self.snapshot_for(method).is_modern() {
            Arc::clone(self).send_message(cancel_notification(id));
        }
        false
    }

    /// Ends the session of a legacy server with a DELETE.
    pub(crate) async fn delete_session(&self) {
        let snapshot = self.session.snapshot();
        if snapshot.id.is_none() || self.core.stop.is_cancelled() {
            return;
        }
        let outgoing =
            SessionRequest::redirectable(Method::DELETE, &snapshot, HeaderMap::new(), Bytes::new());
        // A server without support for it responds with 405; the session ends anyway.
        drop(tokio::time::timeout(DELETE_LIMIT, self.send(outgoing)).await);
    }

    /// Returns the session state for a request; probes are sent before there is a session.
    fn snapshot_for(&self, method: &str) -> SessionSnapshot {
        let snapshot = self.session.snapshot();
        match method {
            "server/discover" => {
                SessionSnapshot { revision: Some(Revision::LATEST), id: None, ..snapshot }
            }
            "initialize" => SessionSnapshot { revision: None, id: None, ..snapshot },
            _ => snapshot,
        }
    }

    /// Sends an HTTP request with the headers of the session.
    pub(super) async fn send(
        &self,
        outgoing: SessionRequest<'_>,
    ) -> Result<HttpResponse, RequestError> {
        let SessionRequest { method, snapshot, mut headers, body, redirects } = outgoing;
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, JSON);
            headers.insert(ACCEPT, BOTH);
        }
        snapshot.add_to(&mut headers);
        let final_address = self.final_address.get();
        let address = final_address.unwrap_or(&self.address);
        let parts =
            RequestParts { method: &method, address, headers: &headers, body: &body, redirects };
        let response = self.client.send(parts).await?;
        if final_address.is_none() && response.status.is_success() {
            let latest = Some(ServerAddress::from_response(&response));
            *self.latest_address.lock().unwrap_or_else(PoisonError::into_inner) = latest;
        }
        Ok(response)
    }

    /// Returns the error for a response with an error status.
    fn request_error(&self, failure: FailedResponse, id: u64) -> RequestError {
        let status = failure.status;
        let body = failure.body.unwrap_or_default();
        match response_reader::rpc_error_in(&body, id) {
            Some((error, ErrorSubject::ThisRequest)) if is_about_request(status) => {
                RequestError::ErrorResponse(error)
            }
            Some((error, _)) => RequestError::Inconclusive { error, status: Some(status) },
            None => {
                let excerpt = self.client.excerpt(&self.address.target, &body);
                RequestError::Status { status, excerpt }
            }
        }
    }

    /// Waits until the session is not being renewed, and returns its generation.
    pub(super) async fn stable_generation(&self) -> u64 {
        // The semaphore is never closed, so this always gets the permit.
        let _turn = self.renewal_lock.acquire().await;
        self.session.snapshot().generation
    }

    /// Starts a new session in place of one that the server has lost.
    async fn renew(self: &Arc<Self>, lost: u64) -> Result<(), RequestError> {
        // The semaphore is never closed, so this always gets the permit.
        let _turn = self.renewal_lock.acquire().await;
        if self.session.snapshot().generation != lost {
            return Ok(());
        }
        let initialize_params = self.session.initialize_params();
        let id = self.core.next_id();
        let snapshot = self.snapshot_for("initialize");
        let body = Bytes::from(envelope::request(id, "initialize", initialize_params.as_ref()));
        let outgoing =
            SessionRequest::redirectable(Method::POST, &snapshot, HeaderMap::new(), body);
        let response = self.send(outgoing).await?;
        if !response.status.is_success() {
            return Err(self.request_error(FailedResponse::read(response).await, id));
        }
        self.session.start(initialize_params.as_ref(), &response.headers);
        let (_never, mut answer) = oneshot::channel();
        let reader = ResponseReader { http: self, id, snapshot: &snapshot };
        reader.read(response, &mut answer).await?;
        self.notify(envelope::notification("notifications/initialized", None)).await?;
        self.core.announce_new_session();
        Ok(())
    }
}

impl MessageSender for StreamableHttp {
    fn send_message(self: Arc<Self>, message: Vec<u8>) {
        let core = Arc::clone(&self.core);
        core.send_in_background(async move { self.notify(message).await });
    }
}

fn headers(request: &ClientRequest<'_>, snapshot: &SessionSnapshot) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if !snapshot.is_modern() {
        return headers;
    }
    if let Some(method) = header_value(request.method) {
        headers.insert(METHOD, method);
    }
    let member = naming_parameter(request.method);
    let name = member.zip(request.params).and_then(|(member, params)| {
        header_value(&decode_string(scan::member(params.as_str(), member)?)?)
    });
    if let Some(name) = name {
        headers.insert(NAME, name);
    }
    for (name, value) in request.headers {
        headers.insert(name, value.clone());
    }
    headers
}

/// A response with an error status.
struct FailedResponse {
    status: StatusCode,
    /// `None` if it is too long or incomplete.
    body: Option<Bytes>,
}

impl FailedResponse {
    async fn read(response: HttpResponse) -> Self {
        let status = response.status;
        Self { status, body: response.body.collect(MAX_ERROR_BODY).await.ok() }
    }

    /// Tells whether the response to request `id` means that the session is lost.
    ///
    /// A body with that id comes from a server that has accepted the request, whatever the status,
    /// and a body that could not be read may be one. Some servers put a text in place of the id.
    fn session_loss(&self, id: u64) -> SessionLoss {
        let Some(body) = self.body.as_ref().filter(|body| !response_reader::is_answer_to(body, id))
        else {
            return SessionLoss::None;
        };
        let mentions_session = || String::from_utf8_lossy(body).to_lowercase().contains("session");
        match self.status {
            StatusCode::NOT_FOUND => SessionLoss::Certain,
            StatusCode::BAD_REQUEST if mentions_session() => SessionLoss::Possible,
            _ => SessionLoss::None,
        }
    }
}

/// Whether an error response means that the legacy session is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionLoss {
    /// It is not about the session.
    None,
    /// The server does not know the session any more (404), so it has not executed the request.
    Certain,
    /// A 400 that mentions the session; the server may have executed the request.
    Possible,
}

impl<'a> SessionRequest<'a> {
    /// Creates a request that is sent again to the target of a redirect.
    pub(super) fn redirectable(
        method: Method,
        snapshot: &'a SessionSnapshot,
        headers: HeaderMap,
        body: Bytes,
    ) -> Self {
        Self { method, snapshot, headers, body, redirects: RedirectPolicy::Follow }
    }
}
