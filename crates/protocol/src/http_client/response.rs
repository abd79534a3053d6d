//! The answer to a request: its head, and a body that is read when the caller wants it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;

use super::client::{AddressPolicy, ClientInner};
use super::connection::Http1Connection;
use super::error::HttpError;
use super::pool;
use super::target::{HttpTarget, UrlOrigin};

/// So much of an unread body is read in order to keep the connection.
const DRAIN_LIMIT: usize = 64 * 1024;

/// So long a server is given to end a body that nobody needs.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// What a body is gathered into has this size at first, unless the server announced less.
const FIRST_BUFFER: usize = 4 * 1024 * 1024;

/// So long a body may keep its task busy, reading and with what is made of it, before it rests.
const MAX_BUSY: Duration = Duration::from_millis(10);

/// So long it rests. Only a timer is sure to let everybody else have a turn: a task that is merely
/// woken again comes before other servers, timers and signals.
const PAUSE: Duration = Duration::from_millis(5);

/// An answer whose head has arrived.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers, at most a hundred.
    pub headers: HeaderMap,
    /// Who answered. It differs from the target of the request after a redirect; use it for the
    /// next request and save the detour.
    pub target: HttpTarget,
    /// Where a request to that target may go.
    pub policy: AddressPolicy,
    /// What follows the head.
    pub body: Body,
}

/// The body of an answer.
///
/// Once it is read to its end, the connection serves the next request. Dropping it earlier ends the
/// stream, which the server notices; [`Body::release`] is for a caller who merely has enough.
pub(crate) struct Body {
    incoming: Incoming,
    origin: UrlOrigin,
    client: Arc<ClientInner>,
    /// The HTTP/1 connection it comes from, until the end; HTTP/2 has a task for that.
    connection: Option<Box<Http1Connection>>,
    idle_timeout: Duration,
    is_over: bool,
    /// How long its reader was busy since the last rest.
    busy: Duration,
    /// When its reader got the last piece.
    last_chunk_at: Option<Instant>,
}

impl Body {
    pub(super) fn new(
        incoming: Incoming,
        origin: &UrlOrigin,
        client: &Arc<ClientInner>,
        connection: Option<Box<Http1Connection>>,
        headers: &HeaderMap,
    ) -> Self {
        let idle_timeout = pool::idle_timeout(headers);
        let (origin, client) = (origin.clone(), client.clone());
        Self {
            incoming,
            origin,
            client,
            connection,
            idle_timeout,
            is_over: false,
            busy: Duration::ZERO,
            last_chunk_at: None,
        }
    }

    /// Waits for the next piece; `None` is the end. Dropping the future loses nothing.
    ///
    /// A server that sends without end is always ready. What it costs to read is limited here, for
    /// everybody who reads, so that it costs nobody else anything.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        self.busy += self
            .last_chunk_at
            .take()
            .map_or(Duration::ZERO, |last_chunk_at| last_chunk_at.elapsed());
        if self.busy >= MAX_BUSY {
            self.busy = Duration::ZERO;
            tokio::time::sleep(PAUSE).await;
        }
        let piece = poll_fn(|cx| {
            let began = Instant::now();
            let polled = self.poll_chunk(cx);
            self.busy += began.elapsed();
            polled
        })
        .await;
        self.last_chunk_at = Some(Instant::now());
        piece
    }

    /// Reads everything, if it is not more than so many bytes.
    pub(crate) async fn collect(mut self, limit: usize) -> Result<Bytes, HttpError> {
        let announced = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > limit {
            return Err(self.too_large(limit));
        }
        let Some(first) = self.chunk().await? else {
            return Ok(Bytes::new());
        };
        if first.len() > limit {
            return Err(self.too_large(limit));
        }
        if self.is_over {
            return Ok(first);
        }
        let capacity = announced.min(FIRST_BUFFER).max(first.len());
        let mut all = BytesMut::with_capacity(capacity);
        all.extend_from_slice(&first);
        while let Some(piece) = self.chunk().await? {
            if piece.len() > limit - all.len() {
                return Err(self.too_large(limit));
            }
            all.extend_from_slice(&piece);
        }
        Ok(all.freeze())
    }

    /// Gives up the rest, which is expected to be next to nothing, in favour of the connection.
    ///
    /// Returns at once. If the body has not ended after a second or 64 KiB, it is dropped.
    pub(crate) fn release(mut self) {
        if self.drain_available() {
            return;
        }
        let tasks = self.client.tasks.clone();
        tasks.start(async move {
            let rest = async {
                let mut left = DRAIN_LIMIT;
                while let Ok(Some(piece)) = self.chunk().await {
                    match left.checked_sub(piece.len()) {
                        Some(less) => left = less,
                        None => break,
                    }
                }
            };
            // Out of time or not, the body is dropped next, and knows whether it has ended.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
        });
    }

    /// Polls for the next piece; `None` is the end.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, HttpError>> {
        let mut is_driven = false;
        while !self.is_over {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if self.incoming.is_end_stream() {
                        self.finish(cx);
                    }
                    // What is no data are trailers, which mean nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(Some(Err(source))) => {
                    self.is_over = true;
                    self.connection = None;
                    let origin = self.origin.clone();
                    return Poll::Ready(Err(HttpError::IncompleteBody { origin, source }));
                }
                Poll::Ready(None) => self.finish(cx),
                Poll::Pending => match &mut self.connection {
                    Some(connection) if !is_driven => {
                        connection.drive(cx);
                        is_driven = true;
                    }
                    _ => return Poll::Pending,
                },
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Returns the connection to the pool, if it can be used again.
    fn finish(&mut self, cx: &mut Context<'_>) {
        self.is_over = true;
        if let Some(mut connection) = self.connection.take()
            && connection.is_reusable(cx)
        {
            self.client.return_connection(self.origin.clone(), connection, self.idle_timeout);
        }
    }

    /// Reads what has already arrived, if it is little; returns whether that was all.
    fn drain_available(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let mut left = DRAIN_LIMIT;
        while let Poll::Ready(Ok(Some(piece))) = self.poll_chunk(&mut cx) {
            match left.checked_sub(piece.len()) {
                Some(less) => left = less,
                None => return false,
            }
        }
        self.is_over
    }

    fn too_large(&self, limit: usize) -> HttpError {
        HttpError::TooLarge { origin: self.origin.clone(), limit }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // An end that is already here is no reason to lose the connection.
        if !self.is_over && self.connection.is_some() {
            self.drain_available();
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Body")
            .field("origin", &self.origin)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
