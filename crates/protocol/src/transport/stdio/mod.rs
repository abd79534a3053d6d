//! The stdio transport: one JSON message per line on the stdin and stdout of a child process.
//!
//! The reader task reads stdout. The driver task writes queued lines, watches the process and ends
//! the session. Lines and messages are in `lines`.

mod driver;

pub(crate) use driver::open;
