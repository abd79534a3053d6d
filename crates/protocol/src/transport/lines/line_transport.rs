//! The caller's side of a session over a byte stream.

use std::sync::Arc;

use super::writer::{WriteError, WriteMode, Writer};
use crate::session::MessageSender;
use crate::transport::process::StderrTail;

/// The handle through which requests and notifications are written.
pub(crate) struct LineTransport {
    name: &'static str,
    writer: Arc<Writer>,
    stderr: Option<StderrTail>,
}

impl LineTransport {
    /// Creates the handle of a transport with this name; only a process has a stderr.
    pub(in super::super) fn new(
        name: &'static str,
        writer: Arc<Writer>,
        stderr: Option<StderrTail>,
    ) -> Self {
        Self { name, writer, stderr }
    }

    /// Returns the name of the transport.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Sends a request. `callers` is the number of callers of the connection, with this one.
    ///
    /// A caller that has a response but was not resumed yet also counts: the responses to many
    /// callers arrive together, and so their next requests are written together.
    pub(crate) fn send(&self, id: u64, message: Vec<u8>, callers: usize) -> Result<(), WriteError> {
        let mode = if callers <= 1 { WriteMode::Immediate } else { WriteMode::Batched };
        self.writer.write_line(Some(id), with_newline(message), mode)
    }

    /// Sends a message that has no response.
    pub(crate) fn send_message(&self, message: Vec<u8>) {
        send_message(&self.writer, message);
    }

    /// Removes a request from the queue; `true` if no byte of it was written.
    pub(crate) fn cancel_unwritten(&self, id: u64) -> bool {
        self.writer.cancel_unwritten(id)
    }

    /// Returns the last part of the stderr of the server's process, if it has one.
    pub(crate) fn stderr(&self) -> Option<&StderrTail> {
        self.stderr.as_ref()
    }
}

impl MessageSender for Writer {
    fn send_message(self: Arc<Self>, message: Vec<u8>) {
        send_message(&self, message);
    }
}

fn send_message(writer: &Writer, message: Vec<u8>) {
    // Nothing can be done for a server that has ended or does not read.
    let _ignored = writer.write_line(None, with_newline(message), WriteMode::Immediate);
}

fn with_newline(mut message: Vec<u8>) -> Vec<u8> {
    message.push(b'\n');
    message
}
