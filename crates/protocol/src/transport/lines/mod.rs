//! Messages over a byte stream: one JSON message per line, in both directions.
//!
//! A session has a reader task (`message_reader`) and a driver task. A caller writes through the
//! `writer`: directly into the pipe of a process if nothing is queued, else into a queue that the
//! driver empties. The driver also decides when the session ends: `stdio` has the driver of a
//! process, and `pipe` that of any other stream.

mod line_buffer;
mod line_transport;
mod message_reader;
mod multiline;
mod stdin_pipe;
mod stream_reader;
mod writer;

#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) use line_buffer::{LimitedLine, LineBuffer};
pub(crate) use line_transport::LineTransport;
pub(super) use message_reader::{MessageReader, YIELD_AFTER};
pub(crate) use writer::WriteError;
pub(super) use writer::Writer;
