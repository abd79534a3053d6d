//! Where a message to a client goes: into the pipe all share, or into one HTTP stream.

use std::sync::Arc;

use super::client::SendError;
use super::http::EventQueue;
use super::stdio::OutputQueue;

#[derive(Debug, Clone)]
pub(crate) enum MessageSink {
    /// Standard output.
    Pipe(Arc<OutputQueue>),
    /// The stream of one request, or the one that belongs to none.
    Stream(Arc<EventQueue>),
}

impl MessageSink {
    /// Sends a message that belongs to a call; waits while the client is slow to read.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), SendError> {
        match self {
            Self::Pipe(output) => output.send(message).await,
            Self::Stream(queue) => queue.send(message).await,
        }
    }

    /// Sends without waiting. A client that reads nothing for long loses old news, not its memory.
    pub(crate) fn send_lossy(&self, message: Vec<u8>) {
        match self {
            Self::Pipe(output) => output.send_lossy(message),
            Self::Stream(queue) => queue.send_lossy(message),
        }
    }
}

/// Makes a message fit on one line: outside of strings a line end is only white space, and inside
/// of them JSON does not allow it.
pub(crate) fn remove_line_breaks(message: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', &message[at..]) {
        at += found;
        message[at] = b' ';
    }
}
