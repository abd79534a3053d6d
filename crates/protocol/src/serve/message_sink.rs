//! The destination of messages to a client: the shared output queue of stdio, or one HTTP stream.

use std::sync::Arc;

use super::client::SendError;
#[cfg(feature = "serve-http")]
use super::http::EventQueue;
use super::stdio::OutputQueue;

#[derive(Debug, Clone)]
pub(crate) enum MessageSink {
    /// The output queue of a byte stream.
    Pipe(Arc<OutputQueue>),
    /// The HTTP stream of one request, or of the session.
    #[cfg(feature = "serve-http")]
    Stream(Arc<EventQueue>),
}

impl MessageSink {
    /// Sends a message that belongs to a call; waits while the client is slow to read.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), SendError> {
        match self {
            Self::Pipe(output) => output.send(message).await,
            #[cfg(feature = "serve-http")]
            Self::Stream(queue) => queue.send(message).await,
        }
    }

    /// Sends without waiting. If the client does not read, notifications are dropped to bound the
    /// memory.
    pub(crate) fn send_lossy(&self, message: Vec<u8>) {
        match self {
            Self::Pipe(output) => output.send_lossy(message),
            #[cfg(feature = "serve-http")]
            Self::Stream(queue) => queue.send_lossy(message),
        }
    }
}

/// Replaces line breaks in a message by spaces. In valid JSON they are only white space between
/// tokens.
pub(crate) fn remove_line_breaks(message: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', &message[at..]) {
        at += found;
        message[at] = b' ';
    }
}
