//! [`HttpClient`]: sends one request, follows redirects and uses the connection pool.

use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
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
use super::local_address::{is_local, is_private};
use super::options::HttpClientOptions;
use super::pool::{ConnectionPool, PoolKey};
use super::redirect::{self, MAX_REDIRECTS, RedirectRefusal};
use super::response::{Body, HttpResponse};
use super::target::{HttpTarget, UrlOrigin};
use super::tasks::ClientTasks;

/// A request to send.
#[derive(Clone)]
pub(crate) struct OutgoingRequest {
    /// The method.
    pub method: Method,
    /// The target.
    pub target: HttpTarget,
    /// The headers. The client sets those about the connection, the length and compression itself.
    pub headers: HeaderMap,
    /// The body; may be empty.
    pub body: Bytes,
    /// Whether a header or the address is a secret of this server, even if its name does not show
    /// it. Then the request is not sent to any other server.
    pub carries_credentials: bool,
    /// What to do with a redirect.
    pub redirects: RedirectPolicy,
    /// Which addresses the request may be sent to.
    pub policy: AddressPolicy,
}

/// What to do with a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectPolicy {
    /// Follow it if that is safe.
    Follow,
    /// Return it as the response: the request must not be sent twice.
    Return,
}

/// Which addresses a request may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AddressPolicy {
    /// All addresses: the target comes from the configuration.
    #[default]
    Any,
    /// All addresses but those of this machine: the target comes from a remote server.
    NoLocal,
    /// Only addresses that are public: the target comes from a server on the internet.
    Public,
}

impl AddressPolicy {
    /// Tells whether nothing may be sent to an address.
    pub fn forbids(self, address: IpAddr) -> bool {
        match self {
            Self::Any => false,
            Self::NoLocal => is_local(address),
            Self::Public => is_local(address) || is_private(address),
        }
    }
}

/// A request that is not MCP.
#[derive(Clone)]
pub struct WebRequest {
    /// The method.
    pub method: Method,
    /// The target.
    pub target: HttpTarget,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; may be empty.
    pub body: Bytes,
    /// Whether something in it is secret. Then no redirect is followed; it is the response.
    pub is_secret: bool,
    /// Which addresses it may be sent to.
    pub policy: AddressPolicy,
    /// How many bytes the body of the response may have.
    pub limit: usize,
}

/// Shows neither headers nor body, because they may be secret.
impl fmt::Debug for WebRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WebRequest({} {})", self.method, self.target)
    }
}

/// Shows neither headers nor body, because they may be secret.
impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Outgoing({} {})", self.method, self.target)
    }
}

/// An HTTP client. Creating and cloning are cheap; clones share their connections.
///
/// It starts no task before it is used, and its tasks end when the last clone and the last response
/// body are dropped.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<ClientInner>,
}

/// The state that clones and response bodies share.
pub(super) struct ClientInner {
    connector: Connector,
    pool: ConnectionPool,
    header_timeout: Option<Duration>,
    pub(super) tasks: ClientTasks,
}

/// How many pooled connections are tried if they turn out to be closed.
const MAX_ATTEMPTS: usize = 4;

impl HttpClient {
    /// Creates a client. It reads no file and makes no connection before the first request.
    pub fn new(options: &HttpClientOptions) -> Self {
        let inner = ClientInner {
            connector: Connector::new(options),
            pool: ConnectionPool::default(),
            header_timeout: options.header_timeout,
            tasks: ClientTasks::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sends a request and returns when the head of the response has arrived, with any status.
    ///
    /// Follows redirects that are safe. Dropping the future closes the connection (or resets the
    /// stream, with HTTP/2), so the server can notice it.
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
            if next.origin() != target.origin()
                && !target.origin().is_this_machine()
                && outgoing.policy == AddressPolicy::Any
            {
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

    /// Sends a POST that is not MCP and returns the whole response, with any status.
    ///
    /// The request is treated as secret, so a redirect to another origin is an error, and so is a
    /// response of more than `limit` bytes.
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
        whole(self.send(outgoing).await?, limit).await
    }

    /// Sends a request that is not MCP and returns the whole response, with any status.
    ///
    /// A request that is not secret follows safe redirects. A response of more than `limit` bytes is
    /// an error. The caller limits the time.
    pub async fn fetch(&self, request: WebRequest) -> Result<http::Response<Bytes>, HttpError> {
        let WebRequest { method, target, headers, body, is_secret, policy, limit } = request;
        let redirects = if is_secret { RedirectPolicy::Return } else { RedirectPolicy::Follow };
        let carries_credentials = is_secret;
        let outgoing = OutgoingRequest {
            method,
            target,
            headers,
            body,
            carries_credentials,
            redirects,
            policy,
        };
        whole(self.send(outgoing).await?, limit).await
    }

    /// Closes all connections and waits until their tasks have ended.
    ///
    /// From then on requests fail, and HTTP/2 bodies end with an error.
    pub async fn close(&self) {
        self.inner.tasks.stop();
        self.inner.pool.close();
        self.inner.tasks.wait().await;
    }

    #[cfg(test)]
    pub(super) fn idle_connections(&self) -> usize {
        self.inner.pool.count()
    }

    /// Sends a request without following redirects.
    async fn exchange(&self, outgoing: &OutgoingRequest) -> Result<HttpResponse, HttpError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (link, is_used) = self.inner.connection(&outgoing.target, outgoing.policy).await?;
            match self.within_limit(outgoing, self.send_on(link, outgoing)).await? {
                Ok(response) => return Ok(response),
                // The connection was closed in the pool, and nothing was written: try the next one.
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
    /// Takes a connection from the pool or makes one; also returns whether it was used before.
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

    /// Returns a connection from the pool that is still open, as far as is known.
    async fn idle(&self, key: &PoolKey) -> Option<HttpConnection> {
        loop {
            let mut connection = match self.pool.take(key)? {
                HttpConnection::Http2(shared) => return Some(HttpConnection::Http2(shared)),
                HttpConnection::Http1(connection) => connection,
            };
            // Lets the runtime poll the sockets, so that a close that has arrived is noticed.
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
        // The semaphore is never closed; without a permit, the caller would just connect.
        let permit = first.acquire().await.ok();
        if let Some(link) = self.idle(&key).await {
            return Ok((link, true));
        }
        // The first connection may have been HTTP/1; then no lock is needed any more.
        let permit = permit.filter(|_| self.pool.first_connection_lock(&key).is_some());
        let link = connect().await?;
        drop(permit);
        if self.pool.record_protocol(key, &link) {
            self.start_expiry_task();
        }
        Ok((link, false))
    }

    /// Returns a connection to the pool.
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

    /// Starts the task that closes expired connections; it ends when the pool is empty.
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

/// Reads the whole body of a response.
async fn whole(response: HttpResponse, limit: usize) -> Result<http::Response<Bytes>, HttpError> {
    let HttpResponse { status, headers, body, .. } = response;
    let mut answer = http::Response::new(body.collect(limit).await?);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

/// Headers about the connection, and headers for features that the client does not support.
const MANAGED_HEADERS: [http::HeaderName; 6] =
    [ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, PROXY_AUTHORIZATION, TRANSFER_ENCODING];

const USER_AGENT_NAME: HeaderValue =
    HeaderValue::from_static(concat!("wharf/", env!("CARGO_PKG_VERSION")));

/// Builds a request for a connection; without a form, for HTTP/2.
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
