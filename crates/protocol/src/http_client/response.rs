//! An HTTP response: its head, and a body that the caller reads chunk by chunk.

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

/// How many bytes of an unread body are read to keep the connection.
const DRAIN_LIMIT: usize = 64 * 1024;

/// How long a server may take to end a released body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The first size of the buffer for a whole body, unless the server announces less.
const FIRST_BUFFER: usize = 4 * 1024 * 1024;

/// How long a body may keep its task busy, with reading and processing, before it pauses.
const MAX_BUSY: Duration = Duration::from_millis(10);

/// How long it pauses. Only a timer lets all other tasks run: a task that is woken again at once
/// would run before other servers, timers and signals.
const PAUSE: Duration = Duration::from_millis(5);

/// A response whose head has arrived.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers, at most a hundred.
    pub headers: HeaderMap,
    /// The target that responded. After a redirect it differs from the target of the request; use
    /// it for the next request to avoid the redirect.
    pub target: HttpTarget,
    /// The address policy for requests to that target.
    pub policy: AddressPolicy,
    /// The body.
    pub body: Body,
}

/// The body of a response.
///
/// When it is read to its end, the connection returns to the pool. Dropping it earlier closes the
/// stream, which the server notices; [`Body::release`] ends the reading and tries to keep the
/// connection.
pub(crate) struct Body {
    incoming: Incoming,
    origin: UrlOrigin,
    client: Arc<ClientInner>,
    /// The HTTP/1 connection of the body, until its end; an HTTP/2 connection has a task.
    connection: Option<Box<Http1Connection>>,
    idle_timeout: Duration,
    is_over: bool,
    /// How long its reader was busy since the last pause.
    busy: Duration,
    /// When its reader got the last chunk.
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

    /// Waits for the next chunk; `None` is the end. Cancel safe.
    ///
    /// A server that sends without end is always ready, so this function pauses regularly to let
    /// other tasks run.
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

    /// Reads the whole body; an error if it has more than `limit` bytes.
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

    /// Discards the rest of the body, which is expected to be short, to keep the connection.
    ///
    /// Returns at once and reads in the background. If the body has not ended after a second or 64
    /// KiB, it is dropped.
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
            // After a timeout as well, the drop of the body checks whether it has ended.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
        });
    }

    /// Polls for the next chunk; `None` is the end.
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
                    // Frames that are not data are trailers, which are ignored.
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

    /// Returns the connection to the pool, if it can be reused.
    fn finish(&mut self, cx: &mut Context<'_>) {
        self.is_over = true;
        if let Some(mut connection) = self.connection.take()
            && connection.is_reusable(cx)
        {
            self.client.return_connection(self.origin.clone(), connection, self.idle_timeout);
        }
    }

    /// Reads what has already arrived, up to 64 KiB; returns whether the body has ended.
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
        // If the rest of the body has already arrived, the connection is kept.
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
