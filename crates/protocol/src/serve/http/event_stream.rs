//! The body of an event stream (SSE): the events of a feed, and keep-alive comments.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};

use super::event_queue::{EventQueueReader, QueueKind, QueuedEvent};
use super::http_sessions::SessionUseGuard;

/// How an event stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamOpening {
    /// With an empty event with an id, so that the client can resume before the first real event.
    Event,
    /// With id and retry only: clients before 2025-11-25 would read an empty event as a message.
    Fields,
    /// With nothing.
    None,
}

/// Returns a response with the events of a feed; `busy` keeps the session in use.
pub(super) fn event_stream_response(
    reader: EventQueueReader,
    opening: StreamOpening,
    retry: Duration,
    keep_alive: Duration,
    busy: Option<SessionUseGuard>,
) -> Response {
    let first = opening_bytes(&reader, opening, retry);
    let state = EventStreamBody { reader, first, keep_alive, _busy: busy };
    let chunks = stream::unfold(state, async |mut flow| {
        let chunk = flow.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), flow))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // nginx and similar proxies would otherwise buffer the events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn opening_bytes(
    reader: &EventQueueReader,
    opening: StreamOpening,
    retry: Duration,
) -> Option<Bytes> {
    let data = match opening {
        StreamOpening::None => return None,
        StreamOpening::Event => "data: \n",
        StreamOpening::Fields => "",
    };
    let stream = reader.queue().stream();
    Some(format!("id: {stream}-0\nretry: {}\n{data}\n", retry.as_millis()).into())
}

struct EventStreamBody {
    reader: EventQueueReader,
    first: Option<Bytes>,
    keep_alive: Duration,
    _busy: Option<SessionUseGuard>,
}

impl EventStreamBody {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match tokio::time::timeout(self.keep_alive, self.reader.next()).await {
            Ok(events) => {
                let queue = self.reader.queue();
                Some(encode_events(&events?, queue.stream(), queue.kind()))
            }
            Err(_) => Some(Bytes::from_static(b": keep-alive\n\n")),
        }
    }
}

fn encode_events(events: &[QueuedEvent], stream: u64, kind: QueueKind) -> Bytes {
    let size = events.iter().map(|event| event.text.len() + 64).sum();
    let mut text = Vec::with_capacity(size);
    for event in events {
        text.extend_from_slice(b"event: message\n");
        if kind == QueueKind::Resumable {
            text.extend_from_slice(format!("id: {stream}-{}\n", event.number).as_bytes());
        }
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(&event.text);
        text.extend_from_slice(b"\n\n");
    }
    text.into()
}
