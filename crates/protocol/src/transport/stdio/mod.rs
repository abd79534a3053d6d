//! The stdio transport: one JSON message per line on the stdin and stdout of a child process.
//!
//! A session has two tasks. The reader reads stdout. The driver writes queued lines, watches the
//! process and ends the session. A single caller writes to the pipe itself; with concurrent callers
//! the driver batches their lines into one write.

mod driver;
mod lines;
mod multiline;
mod stdin_pipe;
mod stdout_reader;
mod writer;

pub(crate) use driver::{StdioTransport, open};
pub(crate) use lines::{LimitedLine, LineBuffer};
pub(crate) use writer::WriteError;
