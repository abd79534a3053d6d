//! The legacy GET stream for messages that a server sends outside of any response.
//!
//! A server without such a stream refuses once (405 and similar) and is not asked again. A stream
//! that breaks is opened again from its last event. A stream belongs to one session: it ends with
//! the session, and the next session gets a new stream.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::sync::oneshot;

use super::exchange::{EVENTS, SessionRequest, StreamableHttp};
use super::response_reader::has_content_type;
use crate::http_client::Body;
use crate::session::RequestError;
use crate::transport::event_stream::EventStream;
use crate::transport::events::SseEvent;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How long to wait before a stream is resumed, if the server sends no `retry`.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
const MIN_RETRY: Duration = Duration::from_millis(100);
/// The longest `retry` that a server may set.
pub(super) const MAX_RETRY: Duration = Duration::from_secs(60);

/// Where to resume a stream that broke: after this event, and after waiting for so long.
#[derive(Default)]
pub(super) struct ResumePoint {
    pub(super) last: Option<ByteString>,
    retry: Option<Duration>,
}

impl ResumePoint {
    /// Notes the id and the `retry` of an event.
    pub(super) fn note(&mut self, event: &SseEvent) {
        if let Some(id) = &event.id {
            self.last = Some(id.clone()).filter(|id| !id.is_empty());
        }
        self.retry = event.retry.or(self.retry);
    }

    pub(super) fn retry(&self) -> Duration {
        self.retry.unwrap_or(DEFAULT_RETRY)
    }
}

impl StreamableHttp {
    /// Opens the stream and keeps it open; returns when the server responds or `limit` has passed.
    ///
    /// Servers send their requests on this stream, so it should be open before the first call.
    pub(crate) async fn open_stream(self: &Arc<Self>, limit: Duration) {
        let (opened, is_open) = oneshot::channel();
        let http = Arc::clone(self);
        self.core.spawn(async move {
            let ended = http.core.ended.clone();
            let stop = http.core.stop.clone();
            tokio::select! {
                () = ended.cancelled() => {}
                () = stop.cancelled() => {}
                () = http.keep_stream(opened) => {}
            }
        });
        // The connection works with and without the stream.
        drop(tokio::time::timeout(limit, is_open).await);
    }

    /// Keeps a stream open for each session in turn.
    async fn keep_stream(self: &Arc<Self>, opened: oneshot::Sender<()>) {
        let mut opened = Some(opened);
        loop {
            let generation = self.stable_generation().await;
            let mut replaced = pin!(self.session.wait_until_replaced(generation));
            tokio::select! {
                // Polled first, so that no stream is opened for a session that is already replaced.
                biased;
                () = &mut replaced => continue,
                end = self.keep_stream_of_session(&mut opened) => match end {
                    StreamRefusal::Always => return,
                    StreamRefusal::ThisSession => {}
                },
            }
            replaced.await;
        }
    }

    /// Keeps the stream of one session open; returns when the server refuses it.
    async fn keep_stream_of_session(
        self: &Arc<Self>,
        opened: &mut Option<oneshot::Sender<()>>,
    ) -> StreamRefusal {
        let mut resume_point = ResumePoint::default();
        let mut failures = 0_u32;
        loop {
            let body = self.get_stream(&resume_point).await;
            if let Some(opened) = opened.take() {
                // The receiver may be gone.
                let _ignored = opened.send(());
            }
            match body {
                Ok(body) => {
                    failures = 0;
                    self.read_stream(body, &mut resume_point).await;
                }
                // 405 means that the server has no such stream; other errors may be temporary.
                Err(RequestError::Status { status: StatusCode::METHOD_NOT_ALLOWED, .. }) => {
                    return StreamRefusal::Always;
                }
                Err(RequestError::Status { status, .. }) if status.is_client_error() => {
                    return StreamRefusal::ThisSession;
                }
                Err(RequestError::Unauthorized { .. } | RequestError::InvalidResponse(_)) => {
                    return StreamRefusal::ThisSession;
                }
                Err(_) => failures += 1,
            }
            let wait = resume_point.retry().saturating_mul(1 << failures.min(6));
            tokio::time::sleep(wait.clamp(MIN_RETRY, MAX_RETRY)).await;
        }
    }

    async fn read_stream(self: &Arc<Self>, body: Body, resume_point: &mut ResumePoint) {
        // After an oversized event, the parser cannot continue, so the stream is opened again.
        let mut events = EventStream::new(body, self.core.limits.message);
        while let Ok(Some(event)) = events.next().await {
            resume_point.note(&event);
            if !event.data.trim_ascii().is_empty() {
                self.core.handle_text(&event.data, self);
            }
        }
    }

    /// Opens a stream, or resumes it after its last event.
    pub(super) async fn get_stream(&self, from: &ResumePoint) -> Result<Body, RequestError> {
        let snapshot = self.session.snapshot();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENTS);
        if let Some(last) = from.last.as_ref().and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(LAST_EVENT_ID, last);
        }
        let outgoing = SessionRequest::redirectable(Method::GET, &snapshot, headers, Bytes::new());
        let response = self.send(outgoing).await?;
        if !response.status.is_success() {
            return Err(RequestError::Status { status: response.status, excerpt: String::new() });
        }
        if !has_content_type(&response.headers, "text/event-stream") {
            return Err(RequestError::InvalidResponse("it is not an event stream".into()));
        }
        Ok(response.body)
    }
}

/// For how long a server refuses the stream.
enum StreamRefusal {
    ThisSession,
    Always,
}
