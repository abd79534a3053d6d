//! The event stream of an HTTP response: reads the body and returns event after event.

use super::events::{EventParser, SseEvent};
use crate::http_client::Body;
use crate::session::RequestError;

/// An event stream that is being read.
pub(super) struct EventStream {
    pub(super) body: Body,
    pub(super) parser: EventParser,
}

impl EventStream {
    /// Starts with the first byte of a body; an event may have up to `limit` bytes.
    pub(super) fn new(body: Body, limit: usize) -> Self {
        Self { body, parser: EventParser::new(limit) }
    }

    /// Waits for the next event; `None` at the end of the stream. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, RequestError> {
        loop {
            let event = self.parser.next_event();
            if let Some(event) = event.map_err(|it| RequestError::TooLarge { limit: it.limit })? {
                return Ok(Some(event));
            }
            match self.body.chunk().await? {
                Some(chunk) => self.parser.push(chunk),
                None => return Ok(None),
            }
        }
    }
}
