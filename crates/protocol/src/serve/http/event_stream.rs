//! A stream of events on a connection: the events of a feed, and comments while it is silent.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};

use super::event_queue::{EventQueueReader, QueueKind, QueuedEvent};
use super::http_sessions::SessionUseGuard;

/// How a stream of events begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamOpening {
    /// With an empty event, so that the client can come back even before the first real one.
    Event,
    /// The same without an event: clients before 2025-11-25 would take the empty one for a message.
    Fields,
    /// With nothing.
    None,
}

/// Answers with the events of a feed; `busy` keeps its session from being idle.
pub(super) fn event_stream_response(
    reader: EventQueueReader,
    opening: (StreamOpening, Duration),
    keep_alive: Duration,
    busy: Option<SessionUseGuard>,
) -> Response {
    let first = opening_bytes(&reader, opening);
    let state = EventStreamBody { reader, first, keep_alive, _busy: busy };
    let chunks = stream::unfold(state, async |mut flow| {
        let chunk = flow.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), flow))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Proxies of the nginx kind would otherwise collect events until they have many.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn opening_bytes(
    reader: &EventQueueReader,
    (opening, retry): (StreamOpening, Duration),
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
