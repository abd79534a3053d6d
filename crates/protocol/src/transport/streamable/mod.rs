//! Streamable HTTP: one POST per message; the response is JSON or an event stream.
//!
//! The caller's own future reads the response; there is no task between it and the
//! socket. `exchange` sends one request, `response_reader` reads its response, `session`
//! keeps the revision and the legacy session id, `stream` is the legacy GET stream
//! for messages outside of any response.

mod exchange;
mod response_reader;
mod session;
mod stream;

pub(crate) use exchange::StreamableHttp;
