//! A server as a child process: lines of JSON on its input and output.
//!
//! Two tasks belong to a session. The reader only reads; the driver writes what callers could not
//! write themselves, watches the process, and ends everything. A lone caller writes straight into
//! the pipe; with many callers the driver gathers their lines into one write.

mod driver;
mod lines;
mod multiline;
mod stdin_pipe;
mod stdout_reader;
mod writer;

pub(crate) use driver::{SendError, StdioTransport, open};
pub(crate) use lines::{LineBuffer, OutputLine};
