//! Makes connections: name lookup, TCP or a Unix socket, the proxy, TLS, and the handshake of HTTP.

use std::io;
use std::pin::Pin;
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

use super::error::{Cause, HttpError, Phase, find};
use super::lane::{Form, Lane};
use super::options::HttpOptions;
use super::proxy::{Proxy, Route, Rules};
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
    rules: Rules,
    tls: Tls,
    limit: Duration,
}

/// Something that bytes can be sent over.
pub(super) enum Link {
    /// HTTP/1, for one request at a time.
    One(Box<Lane>),
    /// HTTP/2, for many.
    Two(Shared),
}

/// The handle of an HTTP/2 connection, which is driven by a task of its own.
pub(super) type Shared = http2::SendRequest<Full<Bytes>>;

/// The connector for TCP, with a lookup whose failure can be told from others.
pub(super) type Tcp = HttpConnector<Lookup>;

impl Dialer {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Lookup(GaiResolver::new()));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(SILENCE));
        tcp.set_keepalive_interval(Some(SILENCE / 2));
        Self {
            tcp,
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
    pub(super) async fn dial(&self, target: &Target, tasks: &Tasks) -> Result<Link, HttpError> {
        let origin = target.origin();
        if let Place::Socket { path } = origin.place() {
            let wire = connect_socket(path).await;
            let source = |source| HttpError::Connect { origin: origin.clone(), source };
            return self.shake_hands(wire.map_err(source)?, Form::Direct, origin).await;
        }
        let (wire, form) = self.reach(target, tasks).await?;
        if !origin.is_secure() {
            return self.shake_hands(wire, form, origin).await;
        }
        let secured = self.tls.wrap(wire, target.uri(), Side::Server, tasks).await;
        let (wire, is_http2) = secured.map_err(|source| tls_error(origin, source))?;
        if is_http2 {
            return share(wire, origin, tasks).await;
        }
        self.shake_hands(wire, form, origin).await
    }

    /// Gets as far as bytes to the server can be sent, directly or through a proxy.
    async fn reach(&self, target: &Target, tasks: &Tasks) -> Result<(Wire, Form), HttpError> {
        let origin = target.origin();
        let wrong = |proxy: &Proxy, source: Cause| HttpError::Proxy {
            origin: origin.clone(),
            proxy: Some(proxy.origin.clone()),
            source,
        };
        match self.rules.route(target)? {
            Route::Direct => Ok((self.connect(target.uri(), origin).await?, Form::Direct)),
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
        let wire = self.connect(&proxy.uri, &proxy.origin).await?;
        if proxy.origin.is_secure() {
            return Ok(self.tls.wrap(wire, &proxy.uri, Side::Proxy, tasks).await?.0);
        }
        Ok(wire)
    }

    async fn connect(&self, uri: &Uri, origin: &Origin) -> Result<Wire, HttpError> {
        let origin = origin.clone();
        let error = match self.tcp.clone().call(uri.clone()).await {
            Ok(stream) => return Ok(Wire::new(stream)),
            Err(error) => error,
        };
        if let Some(LookupFailed(source)) = find(&error) {
            return Err(HttpError::Lookup { origin, source: copy(source) });
        }
        let source = find(&error).map_or_else(|| io::ErrorKind::Other.into(), copy);
        Err(HttpError::Connect { origin, source })
    }

    async fn shake_hands(
        &self,
        wire: Wire,
        form: Form,
        origin: &Origin,
    ) -> Result<Link, HttpError> {
        let shaken = http1::Builder::new()
            .max_header_size(MOST_HEADER_BYTES)
            .handshake(wire)
            .await
            .map_err(|source| never_sent(origin, source))?;
        Ok(Link::One(Box::new(Lane::new(shaken, form))))
    }
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
pub(super) struct Lookup(GaiResolver);

/// What the system said to a name.
#[derive(Debug, thiserror::Error)]
#[error("the name lookup failed")]
pub(super) struct LookupFailed(#[source] io::Error);

impl Service<Name> for Lookup {
    type Response = <GaiResolver as Service<Name>>::Response;
    type Error = LookupFailed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LookupFailed>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LookupFailed>> {
        self.0.poll_ready(cx).map_err(LookupFailed)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let looking_up = self.0.call(name);
        Box::pin(async move { looking_up.await.map_err(LookupFailed) })
    }
}

/// A connection of whatever kind.
pub(super) struct Wire(Box<dyn Stream>);

trait Stream: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Stream for T {}

impl Wire {
    pub(super) fn new(stream: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self(Box::new(stream))
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
        Pin::new(&mut *self.0).poll_read(cx, buffer)
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write_vectored(cx, slices)
    }
}
