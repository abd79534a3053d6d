//! What a stream of events consists of, and the one thing that can be wrong with it.

use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

/// One event of a stream.
///
/// An event is offered if it had a `data`, an `id` or a `retry` line. Those without data matter for
/// resuming a stream only; their `data` is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The place in the stream to resume from; empty if the server takes back the one it gave.
    pub(crate) id: Option<ByteString>,
    /// The kind of the event (`event:`); `message` if there is none.
    pub(crate) name: Option<ByteString>,
    /// The data lines, joined with line feeds. Nobody has checked yet that they are UTF-8.
    pub(crate) data: Bytes,
    /// How long to wait before the stream is opened again.
    pub(crate) retry: Option<Duration>,
}

impl Event {
    /// Says whether it is an ordinary message, which is what carries JSON-RPC.
    pub(crate) fn is_message(&self) -> bool {
        self.name.as_ref().is_none_or(|name| name.is_empty() || name == "message")
    }
}

/// An event, or one line of it, was larger than the caller allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server sent an event of more than {limit} bytes")]
pub(crate) struct EventTooLarge {
    /// How many bytes were allowed.
    pub(crate) limit: usize,
}
