//! Makes connections: name lookup, TCP or a Unix socket, the proxy, TLS, and the handshake of HTTP.

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
use hyper_util::rt::{TokioIo, TokioTimer};
use tower_service::Service;

use super::connection::{Form, Http1};
use super::error::{Cause, HttpError, Phase, find};
use super::guard::is_local;
use super::options::HttpOptions;
use super::proxy::{Proxy, Route, Rules};
use super::send::Reach;
use super::target::{Origin, Place, Target};
use super::tasks::Tasks;
use super::tls::{Side, Tls};
use super::tunnel;

/// The largest head of an answer. Their number is limited by hyper, to a hundred.
const MOST_HEADER_BYTES: usize = 64 * 1024;

/// After so much silence the other side is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);

/// Makes connections for one client.
pub(super) struct Dialer {
    tcp: Tcp,
    /// Does not connect to this machine.
    outside: Tcp,
    rules: Rules,
    tls: Tls,
    limit: Duration,
}

/// Something that bytes can be sent over.
pub(super) enum Link {
    /// HTTP/1, for one request at a time.
    One(Box<Http1>),
    /// HTTP/2, for many.
    Two(Shared),
}

/// The handle of an HTTP/2 connection, which is driven by a task of its own.
pub(super) type Shared = http2::SendRequest<Full<Bytes>>;

/// The connector for TCP, with a lookup whose failure can be told from others.
pub(super) type Tcp = HttpConnector<Lookup>;

impl Dialer {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let tcp = |reach| {
            let lookup = Lookup { resolver: GaiResolver::new(), reach };
            let mut tcp = HttpConnector::new_with_resolver(lookup);
            tcp.enforce_http(false);
            tcp.set_nodelay(true);
            tcp.set_keepalive(Some(SILENCE));
            tcp.set_keepalive_interval(Some(SILENCE / 2));
            tcp
        };
        Self {
            tcp: tcp(Reach::Anywhere),
            outside: tcp(Reach::NotThisMachine),
            rules: Rules::new(&options.proxies),
            tls: Tls::new(options.extra_roots.clone()),
            limit: options.connect_timeout,
        }
    }

    /// Limits the time for something that ends in a connection.
    pub(super) async fn within_limit<T>(
        &self,
        origin: &Origin,
        connecting: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        tokio::time::timeout(self.limit, connecting).await.unwrap_or_else(|_| {
            let (origin, limit) = (origin.clone(), self.limit);
            Err(HttpError::TimedOut { origin, phase: Phase::Connect, limit })
        })
    }

    /// Makes a connection to the origin of a target. The caller limits the time.
    pub(super) async fn dial(
        &self,
        target: &Target,
        reach: Reach,
        tasks: &Tasks,
    ) -> Result<Link, HttpError> {
        let origin = target.origin();
        // The connector looks up names only; what is written as an address is judged here.
        if reach == Reach::NotThisMachine && origin.is_this_machine() {
            return Err(HttpError::IntoThisMachine { origin: origin.clone() });
        }
        if let Place::Socket { path } = origin.place() {
            let wire = connect_socket(path).await;
            let source = |source| HttpError::Connect { origin: origin.clone(), source };
            return shake_hands(wire.map_err(source)?, Form::Direct, reach, origin).await;
        }
        let (wire, form) = self.reach(target, reach, tasks).await?;
        if !origin.is_secure() {
            return shake_hands(wire, form, reach, origin).await;
        }
        let secured = self.tls.wrap(wire, target.uri(), Side::Server, tasks).await;
        let (wire, is_http2) = secured.map_err(|source| tls_error(origin, source))?;
        if is_http2 {
            return share(wire, origin, tasks).await;
        }
        shake_hands(wire, form, reach, origin).await
    }

    /// Gets as far as bytes to the server can be sent, directly or through a proxy.
    async fn reach(
        &self,
        target: &Target,
        reach: Reach,
        tasks: &Tasks,
    ) -> Result<(Wire, Form), HttpError> {
        let origin = target.origin();
        let wrong = |proxy: &Proxy, source: Cause| HttpError::Proxy {
            origin: origin.clone(),
            proxy: Some(proxy.origin.clone()),
            source,
        };
        let route = self.rules.route(target)?;
        if !matches!(route, Route::Direct) && reach == Reach::NotThisMachine {
            judge_for_proxy(origin).await?;
        }
        match route {
            Route::Direct => {
                let tcp = match reach {
                    Reach::Anywhere => &self.tcp,
                    Reach::NotThisMachine => &self.outside,
                };
                Ok((connect(tcp, target.uri(), origin).await?, Form::Direct))
            }
            Route::Forward(proxy) => {
                let wire = self.connect_proxy(&proxy, tasks).await;
                let authorization = proxy.authorization().cloned();
                let wire = wire.map_err(|source| wrong(&proxy, source))?;
                Ok((wire, Form::Forwarded { authorization }))
            }
            Route::Tunnel(proxy) => {
                let wire = self.connect_proxy(&proxy, tasks).await;
                let wire = wire.map_err(|source| wrong(&proxy, source))?;
                let server = authority(origin);
                let wire = tunnel::connect(wire, &server, proxy.authorization()).await;
                Ok((wire.map_err(|source| wrong(&proxy, source.into()))?, Form::Direct))
            }
            Route::Socks(proxy) => {
                let wire = tunnel::socks(&proxy, self.tcp.clone(), target.uri()).await;
                Ok((wire.map_err(|source| wrong(&proxy, source))?, Form::Direct))
            }
        }
    }

    async fn connect_proxy(&self, proxy: &Proxy, tasks: &Tasks) -> Result<Wire, Cause> {
        let wire = connect(&self.tcp, &proxy.uri, &proxy.origin).await?;
        if proxy.origin.is_secure() {
            return Ok(self.tls.wrap(wire, &proxy.uri, Side::Proxy, tasks).await?.0);
        }
        Ok(wire)
    }
}

async fn connect(tcp: &Tcp, uri: &Uri, origin: &Origin) -> Result<Wire, HttpError> {
    let origin = origin.clone();
    let error = match tcp.clone().call(uri.clone()).await {
        Ok(stream) => return Ok(Wire::new(stream)),
        Err(error) => error,
    };
    match find(&error) {
        Some(LookupFailed::System(source)) => {
            return Err(HttpError::Lookup { origin, source: copy(source) });
        }
        Some(LookupFailed::IntoThisMachine) => return Err(HttpError::IntoThisMachine { origin }),
        None => {}
    }
    let source = find(&error).map_or_else(|| io::ErrorKind::Other.into(), copy);
    Err(HttpError::Connect { origin, source })
}

/// Looks a name up that the proxy will look up as well: the proxy may be on this machine, too.
///
/// What only the proxy can look up is left to it.
async fn judge_for_proxy(origin: &Origin) -> Result<(), HttpError> {
    let Place::Network { host, port, .. } = origin.place() else { return Ok(()) };
    let found = tokio::net::lookup_host((host.trim_matches(['[', ']']), *port)).await;
    if found.is_ok_and(|mut found| found.any(|address| is_local(address.ip()))) {
        return Err(HttpError::IntoThisMachine { origin: origin.clone() });
    }
    Ok(())
}

async fn shake_hands(
    wire: Wire,
    form: Form,
    reach: Reach,
    origin: &Origin,
) -> Result<Link, HttpError> {
    let (sender, connection) = http1::Builder::new()
        .max_header_size(MOST_HEADER_BYTES)
        .handshake(wire)
        .await
        .map_err(|source| never_sent(origin, source))?;
    Ok(Link::One(Box::new(Http1::new(sender, connection, form, reach))))
}

/// Starts HTTP/2 on a connection; a task of the client drives it from now on.
async fn share(wire: Wire, origin: &Origin, tasks: &Tasks) -> Result<Link, HttpError> {
    let (mut sender, connection) = http2::Builder::new(tasks.clone())
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MOST_HEADER_BYTES).unwrap_or(u32::MAX))
        .keep_alive_interval(SILENCE)
        .handshake(wire)
        .await
        .map_err(|source| never_sent(origin, source))?;
    tasks.start(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "an HTTP/2 connection broke");
        }
    });
    sender.ready().await.map_err(|source| never_sent(origin, source))?;
    Ok(Link::Two(sender))
}

fn never_sent(origin: &Origin, source: hyper::Error) -> HttpError {
    HttpError::NoAnswer { origin: origin.clone(), never_sent: true, source }
}

fn tls_error(origin: &Origin, source: Cause) -> HttpError {
    HttpError::Tls { origin: origin.clone(), source }
}

#[cfg(unix)]
async fn connect_socket(path: &std::path::Path) -> io::Result<Wire> {
    Ok(Wire::new(TokioIo::new(tokio::net::UnixStream::connect(path).await?)))
}

#[cfg(not(unix))]
async fn connect_socket(_: &std::path::Path) -> io::Result<Wire> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Unix sockets exist on Unix only"))
}

/// Returns host and port as a proxy wants them.
fn authority(origin: &Origin) -> String {
    match origin.place() {
        Place::Network { host, port, .. } => format!("{host}:{port}"),
        Place::Socket { .. } => String::new(),
    }
}

fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The system's lookup of names.
#[derive(Clone)]
pub(super) struct Lookup {
    resolver: GaiResolver,
    reach: Reach,
}

/// Why a name has no address to connect to.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupFailed {
    #[error("the name lookup failed")]
    System(#[source] io::Error),
    #[error("the name leads to this machine")]
    IntoThisMachine,
}

impl Service<Name> for Lookup {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = LookupFailed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LookupFailed>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LookupFailed>> {
        self.resolver.poll_ready(cx).map_err(LookupFailed::System)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let reach = self.reach;
        #[cfg(test)]
        if let Some(known) = NAMES.with_borrow(|names| names.get(name.as_str()).cloned()) {
            return Box::pin(std::future::ready(judged(known, reach)));
        }
        let looking_up = self.resolver.call(name);
        Box::pin(async move {
            let found = looking_up.await.map_err(LookupFailed::System)?.collect();
            judged(found, reach)
        })
    }
}

/// Lets through what may be connected to. One bad address among good ones is a trap.
fn judged(
    found: Vec<SocketAddr>,
    reach: Reach,
) -> Result<std::vec::IntoIter<SocketAddr>, LookupFailed> {
    if reach == Reach::NotThisMachine && found.iter().any(|it| is_local(it.ip())) {
        return Err(LookupFailed::IntoThisMachine);
    }
    Ok(found.into_iter())
}

#[cfg(test)]
thread_local! {
    /// The addresses of names that exist in tests only.
    pub(super) static NAMES: std::cell::RefCell<std::collections::HashMap<String, Vec<SocketAddr>>> =
        std::cell::RefCell::default();
}

/// So much is read of a connection before others get their turn: a server that sends without end is
/// always ready, and whoever reads from it would never pause.
const TURN: usize = 128 * 1024;

/// A connection of whatever kind, which lets others have their turn.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    /// How much there was room for in the reads since then.
    turn: usize,
}

trait Stream: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Stream for T {}

impl Wire {
    pub(super) fn new(stream: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { stream: Box::new(stream), turn: 0 }
    }
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.turn >= TURN {
            self.turn = 0;
            // Wakes us after everybody else, timers and signals included, had a turn.
            let mut others = pin!(tokio::task::yield_now());
            if others.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        // How much of the room is used cannot be seen from here, so all of it counts.
        let room = buffer.remaining();
        let read = Pin::new(&mut *self.stream).poll_read(cx, buffer);
        // Whoever has to wait anyway lets others have their turn.
        self.turn = if read.is_pending() { 0 } else { self.turn + room };
        read
    }
}

impl Write for Wire {
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
