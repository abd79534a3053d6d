//! The client, and the way of one request through it.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST,
    PROXY_AUTHORIZATION, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use hyper::body::Incoming;

use super::connection::{Http1Connection, RequestForm, SendFailure};
use super::connector::{Connector, HttpConnection};
use super::error::{HttpError, HttpPhase};
use super::options::HttpClientOptions;
use super::pool::{ConnectionPool, PoolKey};
use super::redirect::{self, MAX_REDIRECTS, RedirectRefusal};
use super::response::{Body, HttpResponse};
use super::target::{HttpTarget, UrlOrigin};
use super::tasks::ClientTasks;

/// A request that can be sent.
#[derive(Clone)]
pub(crate) struct OutgoingRequest {
    /// The method.
    pub method: Method,
    /// Where it goes.
    pub target: HttpTarget,
    /// The headers. Those about the connection, the length and compression are ours to set.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// Some header, or the address itself, is a secret between the caller and this server, even if
    /// it cannot be told from its name. Then no other server gets to see the request.
    pub carries_credentials: bool,
    /// What happens when the answer points elsewhere.
    pub redirects: RedirectPolicy,
    /// Where the request may go.
    pub policy: AddressPolicy,
}

/// What happens when an answer points elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectPolicy {
    /// It is followed if that is safe.
    Follow,
    /// It is an answer like any other: the request must not be sent twice.
    Return,
}

/// Where a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum AddressPolicy {
    /// Anywhere: a person wrote the address.
    #[default]
    Any,
    /// Anywhere but to this machine: a server elsewhere named the address.
    NoLocal,
}

/// Headers and body may be secret, so shows neither.
impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Outgoing({} {})", self.method, self.target)
    }
}

/// An HTTP client. Cheap to make, cheap to clone; clones share their connections.
///
/// It has no task of its own before it is used, and leaves none behind when the last clone and the
/// last body of an answer are dropped.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<ClientInner>,
}

/// What the clones and the bodies of a client share.
pub(super) struct ClientInner {
    connector: Connector,
    pool: ConnectionPool,
    header_timeout: Option<Duration>,
    pub(super) tasks: ClientTasks,
}

/// How many connections from the pool may turn out to be closed before the request is given up.
const MAX_ATTEMPTS: usize = 4;

impl HttpClient {
    /// Makes a client. Nothing is read or contacted before the first request.
    pub fn new(options: &HttpClientOptions) -> Self {
        let inner = ClientInner {
            connector: Connector::new(options),
            pool: ConnectionPool::default(),
            header_timeout: options.header_timeout,
            tasks: ClientTasks::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sends a request and returns when the head of the answer has arrived, whatever its status.
    ///
    /// Redirects that are safe to follow are followed. Dropping the future closes the connection
    /// (or resets the stream, with HTTP/2), so the server can notice.
    pub(crate) async fn send(
        &self,
        mut outgoing: OutgoingRequest,
    ) -> Result<HttpResponse, HttpError> {
        let carries_credentials = outgoing.carries_credentials
            || redirect::has_credentials(&outgoing.target, &outgoing.headers);
        for name in MANAGED_HEADERS {
            outgoing.headers.remove(name);
        }
        outgoing.headers.entry(USER_AGENT).or_insert(USER_AGENT_NAME);
        let mut before: Option<HttpTarget> = None;
        for _ in 0..=MAX_REDIRECTS {
            let response = match (self.exchange(&outgoing).await, &before) {
                (Err(error), Some(from)) if error.never_sent() => {
                    return Err(redirect_failure(from, &outgoing.target, error));
                }
                (response, _) => response?,
            };
            if outgoing.redirects == RedirectPolicy::Return {
                return refuse_compressed(response);
            }
            let HttpResponse { status, headers, target, .. } = &response;
            let Some(next) = redirect::next_target(target, *status, headers, carries_credentials)?
            else {
                return refuse_compressed(response);
            };
            if next.origin() != target.origin() && !target.origin().is_this_machine() {
                outgoing.policy = AddressPolicy::NoLocal;
            }
            if next.origin() != target.origin() {
                outgoing.headers.remove(HOST);
            }
            before = Some(std::mem::replace(&mut outgoing.target, next));
        }
        Err(HttpError::Redirected {
            from: before.unwrap_or_else(|| outgoing.target.clone()),
            to: Some(outgoing.target),
            reason: RedirectRefusal::TooMany,
            source: None,
        })
    }

    /// Sends something that is no MCP and returns the whole answer, whatever its status.
    ///
    /// What is sent is taken for a secret between the caller and the target, so a redirect to
    /// somebody else is an error. So is an answer of more than `limit` bytes.
    pub async fn post(
        &self,
        target: &HttpTarget,
        headers: HeaderMap,
        body: Bytes,
        limit: usize,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let outgoing = OutgoingRequest {
            method: Method::POST,
            target: target.clone(),
            headers,
            body,
            carries_credentials: true,
            redirects: RedirectPolicy::Follow,
            policy: AddressPolicy::Any,
        };
        let HttpResponse { status, headers, body, .. } = self.send(outgoing).await?;
        let mut answer = http::Response::new(body.collect(limit).await?);
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        Ok(answer)
    }

    /// Closes all connections and waits until the tasks behind them have ended.
    ///
    /// From then on requests fail, and bodies of HTTP/2 break off.
    pub async fn close(&self) {
        self.inner.tasks.stop();
        self.inner.pool.close();
        self.inner.tasks.wait().await;
    }

    #[cfg(test)]
    pub(super) fn idle_connections(&self) -> usize {
        self.inner.pool.count()
    }

    /// Sends a request to its target and nowhere else.
    async fn exchange(&self, outgoing: &OutgoingRequest) -> Result<HttpResponse, HttpError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (link, is_used) = self.inner.connection(&outgoing.target, outgoing.policy).await?;
            match self.within_limit(outgoing, self.send_on(link, outgoing)).await? {
                Ok(response) => return Ok(response),
                // Closed while it waited in the pool, and nothing was written: the next, please.
                Err(failed) if failed.never_sent && is_used && attempts < MAX_ATTEMPTS => {}
                Err(SendFailure { error: source, never_sent }) => {
                    let origin = outgoing.target.origin().clone();
                    return Err(HttpError::NoResponse { origin, never_sent, source });
                }
            }
        }
    }

    async fn send_on(
        &self,
        link: HttpConnection,
        outgoing: &OutgoingRequest,
    ) -> Result<HttpResponse, SendFailure> {
        let (response, connection) = match link {
            HttpConnection::Http1(mut connection) => {
                let request = build(outgoing, Some(&connection.form));
                (connection.send(request).await?, Some(connection))
            }
            HttpConnection::Http2(mut shared) => {
                (shared.try_send_request(build(outgoing, None)).await?, None)
            }
        };
        Ok(self.respond(response, outgoing, connection))
    }

    fn respond(
        &self,
        response: http::Response<Incoming>,
        outgoing: &OutgoingRequest,
        connection: Option<Box<Http1Connection>>,
    ) -> HttpResponse {
        let (head, incoming) = response.into_parts();
        let target = outgoing.target.clone();
        let body = Body::new(incoming, target.origin(), &self.inner, connection, &head.headers);
        let policy = outgoing.policy;
        HttpResponse { status: head.status, headers: head.headers, target, policy, body }
    }

    async fn within_limit<T>(
        &self,
        outgoing: &OutgoingRequest,
        answering: impl Future<Output = T>,
    ) -> Result<T, HttpError> {
        let Some(limit) = self.inner.header_timeout else {
            return Ok(answering.await);
        };
        tokio::time::timeout(limit, answering).await.map_err(|_| {
            let origin = outgoing.target.origin().clone();
            HttpError::TimedOut { origin, phase: HttpPhase::Answer, limit }
        })
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

impl ClientInner {
    /// Finds or makes a connection; says also whether it has been used before.
    async fn connection(
        self: &Arc<Self>,
        target: &HttpTarget,
        policy: AddressPolicy,
    ) -> Result<(HttpConnection, bool), HttpError> {
        let key = (target.origin().clone(), policy);
        if let Some(link) = self.idle(&key).await {
            return Ok((link, true));
        }
        if self.tasks.is_stopped() {
            return Err(HttpError::Closed);
        }
        self.connector.within_limit(target.origin(), self.connect(target, key)).await
    }

    /// Returns a connection from the pool that is still alive, as far as can be known.
    async fn idle(&self, key: &PoolKey) -> Option<HttpConnection> {
        loop {
            let mut connection = match self.pool.take(key)? {
                HttpConnection::Http2(shared) => return Some(HttpConnection::Http2(shared)),
                HttpConnection::Http1(connection) => connection,
            };
            // Lets the runtime look at the sockets, so that a close that has arrived is seen.
            tokio::task::yield_now().await;
            if poll_fn(|cx| Poll::Ready(connection.is_reusable(cx))).await {
                return Some(HttpConnection::Http1(connection));
            }
        }
    }

    async fn connect(
        self: &Arc<Self>,
        target: &HttpTarget,
        key: PoolKey,
    ) -> Result<(HttpConnection, bool), HttpError> {
        let connect = || self.connector.connect(target, key.1, &self.tasks);
        let Some(first) = self.pool.first_connection_lock(&key) else {
            return Ok((connect().await?, false));
        };
        // Nobody closes the semaphore; if it were closed, everybody would just connect.
        let permit = first.acquire().await.ok();
        if let Some(link) = self.idle(&key).await {
            return Ok((link, true));
        }
        // Whoever was first may have found out that there is nothing to share.
        let permit = permit.filter(|_| self.pool.first_connection_lock(&key).is_some());
        let link = connect().await?;
        drop(permit);
        if self.pool.record_protocol(key, &link) {
            self.start_expiry_task();
        }
        Ok((link, false))
    }

    /// Keeps a connection for the next request.
    pub(super) fn return_connection(
        self: &Arc<Self>,
        origin: UrlOrigin,
        connection: Box<Http1Connection>,
        idle_timeout: Duration,
    ) {
        if self.pool.put((origin, connection.policy), connection, idle_timeout) {
            self.start_expiry_task();
        }
    }

    /// Starts the task that closes what has waited too long; it ends when nothing waits any more.
    fn start_expiry_task(self: &Arc<Self>) {
        let client = Arc::downgrade(self);
        self.tasks.start(async move {
            while let Some(next) = client.upgrade().and_then(|client| client.pool.close_expired()) {
                tokio::time::sleep_until(next).await;
            }
        });
    }
}

impl Drop for ClientInner {
    fn drop(&mut self) {
        self.tasks.stop();
    }
}

/// Headers that describe the connection, or promise what we cannot do.
const MANAGED_HEADERS: [http::HeaderName; 6] =
    [ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, PROXY_AUTHORIZATION, TRANSFER_ENCODING];

const USER_AGENT_NAME: HeaderValue =
    HeaderValue::from_static(concat!("wharf/", env!("CARGO_PKG_VERSION")));

/// Writes a request for a connection; without a form it is one for HTTP/2.
fn build(outgoing: &OutgoingRequest, form: Option<&RequestForm>) -> Request<Full<Bytes>> {
    let OutgoingRequest { method, target, body, .. } = outgoing;
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = method.clone();
    let uri: &Uri = match form {
        Some(RequestForm::Direct) => target.path(),
        Some(RequestForm::Forwarded { .. }) | None => target.uri(),
    };
    *request.uri_mut() = uri.clone();
    let mut headers = outgoing.headers.clone();
    if form.is_some() && !headers.contains_key(HOST) {
        headers.insert(HOST, target.host().clone());
    }
    if let Some(value) = target.authorization()
        && !headers.contains_key(AUTHORIZATION)
    {
        headers.insert(AUTHORIZATION, value.clone());
    }
    if let Some(RequestForm::Forwarded { authorization: Some(value) }) = form {
        headers.insert(PROXY_AUTHORIZATION, value.clone());
    }
    *request.headers_mut() = headers;
    request
}

fn refuse_compressed(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let encoding = response.headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(HttpError::Compressed { origin: response.target.origin().clone() });
    }
    Ok(response)
}

fn redirect_failure(from: &HttpTarget, to: &HttpTarget, error: HttpError) -> HttpError {
    let (reason, source) = match error {
        HttpError::LocalAddress { .. } => (RedirectRefusal::LocalAddress, None),
        error => (RedirectRefusal::Unreachable, Some(Box::new(error))),
    };
    HttpError::Redirected { from: from.clone(), to: Some(to.clone()), reason, source }
}
