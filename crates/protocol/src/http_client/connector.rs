//! Makes HTTP connections: name lookup, TCP or a Unix socket, proxy, TLS and the HTTP handshake.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioTimer;
use tower_service::Service;

use super::client::AddressPolicy;
use super::connection::{Http1Connection, RequestForm};
use super::error::{BoxError, HttpError, HttpPhase, find};
use super::options::HttpClientOptions;
use super::proxy::{Proxy, ProxyRoute, ProxyRules};
use super::target::{HttpTarget, OriginLocation, UrlOrigin};
use super::tasks::ClientTasks;
use super::tls::{Tls, TlsPeer};
use super::tunnel;

/// The size limit for the head of a response. hyper limits the number of headers to a hundred.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The interval of keep-alive probes (TCP) and pings (HTTP/2).
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Makes connections for one client.
pub(super) struct Connector {
    tcp: Tcp,
    /// Refuses addresses of this machine.
    tcp_no_local: Tcp,
    /// Refuses names that do not resolve to the internet.
    tcp_public: Tcp,
    rules: ProxyRules,
    tls: Tls,
    limit: Duration,
}

/// An HTTP connection.
pub(super) enum HttpConnection {
    /// HTTP/1, for one request at a time.
    Http1(Box<Http1Connection>),
    /// HTTP/2, for concurrent requests.
    Http2(Http2Sender),
}

/// The handle of an HTTP/2 connection, which a task drives.
pub(super) type Http2Sender = http2::SendRequest<Full<Bytes>>;

/// The TCP connector, with a name lookup whose errors can be distinguished.
pub(super) type Tcp = HttpConnector<Lookup>;

impl Connector {
    pub(super) fn new(options: &HttpClientOptions) -> Self {
        let tcp = |policy| {
            let lookup = Lookup { resolver: GaiResolver::new(), policy };
            let mut tcp = HttpConnector::new_with_resolver(lookup);
            tcp.enforce_http(false);
            tcp.set_nodelay(true);
            tcp.set_keepalive(Some(KEEP_ALIVE));
            tcp.set_keepalive_interval(Some(KEEP_ALIVE / 2));
            tcp
        };
        Self {
            tcp: tcp(AddressPolicy::Any),
            tcp_no_local: tcp(AddressPolicy::NoLocal),
            tcp_public: tcp(AddressPolicy::Public),
            rules: ProxyRules::new(&options.proxies),
            tls: Tls::new(options.extra_roots.clone()),
            limit: options.connect_timeout,
        }
    }

    /// Limits the time for making a connection.
    pub(super) async fn within_limit<T>(
        &self,
        origin: &UrlOrigin,
        connecting: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        tokio::time::timeout(self.limit, connecting).await.unwrap_or_else(|_| {
            let (origin, limit) = (origin.clone(), self.limit);
            Err(HttpError::TimedOut { origin, phase: HttpPhase::Connect, limit })
        })
    }

    /// Makes a connection to the origin of a target. The caller limits the time.
    pub(super) async fn connect(
        &self,
        target: &HttpTarget,
        policy: AddressPolicy,
        tasks: &ClientTasks,
    ) -> Result<HttpConnection, HttpError> {
        let origin = target.origin();
        // The lookup checks only names, so IP addresses are checked here.
        if policy != AddressPolicy::Any && origin.is_forbidden(policy) {
            return Err(forbidden(origin, policy));
        }
        if let OriginLocation::Socket { path } = origin.location() {
            let stream = connect_socket(path).await;
            let source = |source| HttpError::Connect { origin: origin.clone(), source };
            return http1_handshake(stream.map_err(source)?, RequestForm::Direct, policy, origin)
                .await;
        }
        let (stream, form) = self.connect_stream(target, policy, tasks).await?;
        if !origin.is_secure() {
            return http1_handshake(stream, form, policy, origin).await;
        }
        let secured = self.tls.wrap(stream, target.uri(), TlsPeer::Server, tasks).await;
        let (stream, is_http2) = secured.map_err(|source| tls_error(origin, source))?;
        if is_http2 {
            return http2_handshake(stream, origin, tasks).await;
        }
        http1_handshake(stream, form, policy, origin).await
    }

    /// Makes a byte stream to the server, directly or through a proxy.
    async fn connect_stream(
        &self,
        target: &HttpTarget,
        policy: AddressPolicy,
        tasks: &ClientTasks,
    ) -> Result<(ByteStream, RequestForm), HttpError> {
        let origin = target.origin();
        let wrong = |proxy: &Proxy, source: BoxError| HttpError::Proxy {
            origin: origin.clone(),
            proxy: Some(proxy.origin.clone()),
            source,
        };
        let route = self.rules.route(target)?;
        if !matches!(route, ProxyRoute::Direct) && policy != AddressPolicy::Any {
            check_name_for_proxy(origin, policy).await?;
        }
        match route {
            ProxyRoute::Direct => {
                let tcp = match policy {
                    AddressPolicy::Any => &self.tcp,
                    AddressPolicy::NoLocal => &self.tcp_no_local,
                    AddressPolicy::Public => &self.tcp_public,
                };
                Ok((connect(tcp, target.uri(), origin).await?, RequestForm::Direct))
            }
            ProxyRoute::Forward(proxy) => {
                let stream = self.connect_proxy(&proxy, tasks).await;
                let authorization = proxy.authorization().cloned();
                let stream = stream.map_err(|source| wrong(&proxy, source))?;
                Ok((stream, RequestForm::Forwarded { authorization }))
            }
            ProxyRoute::Tunnel(proxy) => {
                let stream = self.connect_proxy(&proxy, tasks).await;
                let stream = stream.map_err(|source| wrong(&proxy, source))?;
                let server = authority(origin);
                let stream = tunnel::connect(stream, &server, proxy.authorization()).await;
                Ok((stream.map_err(|source| wrong(&proxy, source.into()))?, RequestForm::Direct))
            }
            ProxyRoute::Socks(proxy) => {
                let stream = tunnel::socks(&proxy, self.tcp.clone(), target.uri()).await;
                Ok((stream.map_err(|source| wrong(&proxy, source))?, RequestForm::Direct))
            }
        }
    }

    async fn connect_proxy(
        &self,
        proxy: &Proxy,
        tasks: &ClientTasks,
    ) -> Result<ByteStream, BoxError> {
        let stream = connect(&self.tcp, &proxy.uri, &proxy.origin).await?;
        if proxy.origin.is_secure() {
            return Ok(self.tls.wrap(stream, &proxy.uri, TlsPeer::Proxy, tasks).await?.0);
        }
        Ok(stream)
    }
}

async fn connect(tcp: &Tcp, uri: &Uri, origin: &UrlOrigin) -> Result<ByteStream, HttpError> {
    let origin = origin.clone();
    let error = match tcp.clone().call(uri.clone()).await {
        Ok(stream) => return Ok(ByteStream::new(stream)),
        Err(error) => error,
    };
    match find(&error) {
        Some(LookupError::System(source)) => {
            return Err(HttpError::Lookup { origin, source: copy(source) });
        }
        Some(LookupError::Forbidden(policy)) => return Err(forbidden(&origin, *policy)),
        None => {}
    }
    let source = find(&error).map_or_else(|| io::ErrorKind::Other.into(), copy);
    Err(HttpError::Connect { origin, source })
}

/// Returns the error for an address that a policy forbids.
fn forbidden(origin: &UrlOrigin, policy: AddressPolicy) -> HttpError {
    let origin = origin.clone();
    match policy {
        AddressPolicy::Public => HttpError::PrivateAddress { origin },
        AddressPolicy::Any | AddressPolicy::NoLocal => HttpError::LocalAddress { origin },
    }
}

/// Checks a name before a proxy looks it up: the proxy may be on this machine, too.
///
/// A name that only the proxy can look up is accepted.
async fn check_name_for_proxy(origin: &UrlOrigin, policy: AddressPolicy) -> Result<(), HttpError> {
    let OriginLocation::Network { host, port, .. } = origin.location() else { return Ok(()) };
    let found = tokio::net::lookup_host((host.trim_matches(['[', ']']), *port)).await;
    if found.is_ok_and(|mut found| found.any(|address| policy.forbids(address.ip()))) {
        return Err(forbidden(origin, policy));
    }
    Ok(())
}

async fn http1_handshake(
    stream: ByteStream,
    form: RequestForm,
    policy: AddressPolicy,
    origin: &UrlOrigin,
) -> Result<HttpConnection, HttpError> {
    let (sender, connection) = http1::Builder::new()
        .max_header_size(MAX_HEADER_BYTES)
        .handshake(stream)
        .await
        .map_err(|source| never_sent(origin, source))?;
    Ok(HttpConnection::Http1(Box::new(Http1Connection::new(sender, connection, form, policy))))
}

/// Starts HTTP/2; a task of the client drives the connection from now on.
async fn http2_handshake(
    stream: ByteStream,
    origin: &UrlOrigin,
    tasks: &ClientTasks,
) -> Result<HttpConnection, HttpError> {
    let (mut sender, connection) = http2::Builder::new(tasks.clone())
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEADER_BYTES).unwrap_or(u32::MAX))
        .keep_alive_interval(KEEP_ALIVE)
        .handshake(stream)
        .await
        .map_err(|source| never_sent(origin, source))?;
    tasks.start(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "an HTTP/2 connection broke");
        }
    });
    sender.ready().await.map_err(|source| never_sent(origin, source))?;
    Ok(HttpConnection::Http2(sender))
}

fn never_sent(origin: &UrlOrigin, source: hyper::Error) -> HttpError {
    HttpError::NoResponse { origin: origin.clone(), never_sent: true, source }
}

fn tls_error(origin: &UrlOrigin, source: BoxError) -> HttpError {
    HttpError::Tls { origin: origin.clone(), source }
}

#[cfg(unix)]
async fn connect_socket(path: &std::path::Path) -> io::Result<ByteStream> {
    let stream = tokio::net::UnixStream::connect(path).await?;
    Ok(ByteStream::new(hyper_util::rt::TokioIo::new(stream)))
}

#[cfg(not(unix))]
async fn connect_socket(_: &std::path::Path) -> io::Result<ByteStream> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Unix sockets exist on Unix only"))
}

/// Returns `host:port` for the `CONNECT` request to a proxy.
fn authority(origin: &UrlOrigin) -> String {
    match origin.location() {
        OriginLocation::Network { host, port, .. } => format!("{host}:{port}"),
        OriginLocation::Socket { .. } => String::new(),
    }
}

fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The system's name lookup, with a check of the addresses.
#[derive(Clone)]
pub(super) struct Lookup {
    resolver: GaiResolver,
    policy: AddressPolicy,
}

/// Why a name lookup failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupError {
    #[error("DNS lookup failed")]
    System(#[source] io::Error),
    #[error("the name resolves to a forbidden address")]
    Forbidden(AddressPolicy),
}

impl Service<Name> for Lookup {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = LookupError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LookupError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LookupError>> {
        self.resolver.poll_ready(cx).map_err(LookupError::System)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let policy = self.policy;
        #[cfg(test)]
        if let Some(known) = NAMES.with_borrow(|names| names.get(name.as_str()).cloned()) {
            return Box::pin(std::future::ready(check_addresses(known, policy)));
        }
        let looking_up = self.resolver.call(name);
        Box::pin(async move {
            let found = looking_up.await.map_err(LookupError::System)?.collect();
            check_addresses(found, policy)
        })
    }
}

/// Checks the addresses of a name. One forbidden address is enough to refuse all of them.
fn check_addresses(
    found: Vec<SocketAddr>,
    policy: AddressPolicy,
) -> Result<std::vec::IntoIter<SocketAddr>, LookupError> {
    if found.iter().any(|it| policy.forbids(it.ip())) {
        return Err(LookupError::Forbidden(policy));
    }
    Ok(found.into_iter())
}

#[cfg(test)]
thread_local! {
    /// Names and addresses for tests.
    pub(super) static NAMES: std::cell::RefCell<std::collections::HashMap<String, Vec<SocketAddr>>> =
        std::cell::RefCell::default();
}

/// After so many bytes a connection yields to other tasks: a server that sends without end is
/// always ready, so its reader would never yield.
const YIELD_AFTER: usize = 128 * 1024;

/// A byte stream over TCP, a Unix socket, TLS or a proxy, which yields to other tasks regularly.
pub(super) struct ByteStream {
    stream: Box<dyn Stream>,
    /// The space for bytes in the reads since the last yield.
    turn: usize,
}

trait Stream: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Stream for T {}

impl ByteStream {
    pub(super) fn new(stream: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { stream: Box::new(stream), turn: 0 }
    }
}

impl Connection for ByteStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for ByteStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.turn >= YIELD_AFTER {
            self.turn = 0;
            // Wakes this task after all others, including timers and signals, have run.
            let mut others = pin!(tokio::task::yield_now());
            if others.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        // The number of bytes read is not visible here, so the whole space counts.
        let room = buffer.remaining();
        let read = Pin::new(&mut *self.stream).poll_read(cx, buffer);
        // A pending read yields anyway.
        self.turn = if read.is_pending() { 0 } else { self.turn + room };
        read
    }
}

impl Write for ByteStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write_vectored(cx, slices)
    }
}
