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
use crate::transport::events::EventParser;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const MIN_RETRY: Duration = Duration::from_millis(100);
const MAX_RETRY: Duration = Duration::from_secs(60);
/// After so many bytes of a stream the reader pauses.
const PAUSE_AFTER: usize = 256 << 10;
/// How long it pauses.
const PAUSE: Duration = Duration::from_millis(5);

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
        let mut last: Option<ByteString> = None;
        let mut retry = Duration::from_secs(1);
        let mut failures = 0_u32;
        loop {
            let body = self.get(last.as_ref()).await;
            if let Some(opened) = opened.take() {
                // The receiver may be gone.
                let _ignored = opened.send(());
            }
            match body {
                Ok(mut body) => {
                    failures = 0;
                    self.read_stream(&mut body, &mut last, &mut retry).await;
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
            let wait = retry.saturating_mul(1 << failures.min(6));
            tokio::time::sleep(wait.clamp(MIN_RETRY, MAX_RETRY)).await;
        }
    }

    async fn read_stream(
        self: &Arc<Self>,
        body: &mut Body,
        last: &mut Option<ByteString>,
        retry: &mut Duration,
    ) {
        let mut parser = EventParser::new(self.core.limits.message);
        let mut turn = 0;
        while let Ok(Some(chunk)) = body.chunk().await {
            turn += chunk.len();
            if turn >= PAUSE_AFTER {
                // These messages are unsolicited, so other tasks have priority.
                turn = 0;
                tokio::time::sleep(PAUSE).await;
            }
            parser.push(chunk);
            loop {
                let event = match parser.next_event() {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    // The parser cannot continue after an oversized event; reconnect.
                    Err(_) => return,
                };
                if let Some(id) = &event.id {
                    *last = Some(id.clone()).filter(|id| !id.is_empty());
                }
                *retry = event.retry.unwrap_or(*retry);
                if event.data.trim_ascii().is_empty() {
                    continue;
                }
                self.core.handle_text(&event.data, self);
            }
        }
    }

    /// Resumes a stream that broke.
    pub(super) async fn resume(self: &Arc<Self>, last: &ByteString) -> Result<Body, RequestError> {
        self.get(Some(last)).await
    }

    async fn get(&self, last: Option<&ByteString>) -> Result<Body, RequestError> {
        let snapshot = self.session.snapshot();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, EVENTS);
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
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
