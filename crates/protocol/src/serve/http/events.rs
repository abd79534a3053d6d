//! A stream of events on a connection: the events of a feed, and comments while it is silent.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};

use super::feed::{Event, FeedReader, Kind};
use super::sessions::Busy;

/// How a stream of events begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// With an empty event, so that the client can come back even before the first real one.
    Event,
    /// The same without an event: clients before 2025-11-25 would take the empty one for a message.
    Fields,
    /// With nothing.
    None,
}

/// Answers with the events of a feed; `busy` keeps its session from being idle.
pub(super) fn events(
    reader: FeedReader,
    opening: (Opening, Duration),
    keep_alive: Duration,
    busy: Option<Busy>,
) -> Response {
    let first = opened(&reader, opening);
    let state = Flow { reader, first, keep_alive, _busy: busy };
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

fn opened(reader: &FeedReader, (opening, retry): (Opening, Duration)) -> Option<Bytes> {
    let data = match opening {
        Opening::None => return None,
        Opening::Event => "data: \n",
        Opening::Fields => "",
    };
    let stream = reader.feed().stream();
    Some(format!("id: {stream}-0\nretry: {}\n{data}\n", retry.as_millis()).into())
}

struct Flow {
    reader: FeedReader,
    first: Option<Bytes>,
    keep_alive: Duration,
    _busy: Option<Busy>,
}

impl Flow {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match tokio::time::timeout(self.keep_alive, self.reader.next()).await {
            Ok(events) => {
                let feed = self.reader.feed();
                Some(written(&events?, feed.stream(), feed.kind()))
            }
            Err(_) => Some(Bytes::from_static(b": keep-alive\n\n")),
        }
    }
}

fn written(events: &[Event], stream: u64, kind: Kind) -> Bytes {
    let size = events.iter().map(|event| event.text.len() + 64).sum();
    let mut text = Vec::with_capacity(size);
    for event in events {
        text.extend_from_slice(b"event: message\n");
        if kind == Kind::Resumable {
            text.extend_from_slice(format!("id: {stream}-{}\n", event.number).as_bytes());
        }
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(&event.text);
        text.extend_from_slice(b"\n\n");
    }
    text.into()
}
