//! One event of a Server-Sent Events stream, and the error for an event that is too large.

use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

/// One event of a stream.
///
/// The parser returns an event if it has a `data`, an `id` or a `retry` line. An event without data
/// matters only for resuming a stream; its `data` is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The position to resume the stream from (`Last-Event-ID`); empty if the server resets it.
    pub(crate) id: Option<ByteString>,
    /// The type of the event (`event:`); `message` if there is none.
    pub(crate) name: Option<ByteString>,
    /// The data lines, joined with line feeds. Not validated as UTF-8.
    pub(crate) data: Bytes,
    /// How long to wait before reconnecting.
    pub(crate) retry: Option<Duration>,
}

impl SseEvent {
    /// Tells whether the event is an ordinary message; only those carry JSON-RPC.
    pub(crate) fn is_message(&self) -> bool {
        self.name.as_ref().is_none_or(|name| name.is_empty() || name == "message")
    }
}

/// An event, or one line of it, is larger than the caller allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server sent an event of more than {limit} bytes")]
pub(crate) struct EventTooLarge {
    /// How many bytes are allowed.
    pub(crate) limit: usize,
}
