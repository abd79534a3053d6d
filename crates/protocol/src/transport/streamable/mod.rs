//! Streamable HTTP: one POST per message, answered with JSON or with a stream of events.
//!
//! The one who asks reads the answer himself; no task is between him and the socket. `exchange` is
//! one request, `response_reader` reads its answer, `session` what a legacy server remembers of us,
//! `stream` the legacy stream for everything that belongs to no request.

mod exchange;
mod response_reader;
mod session;
mod stream;

pub(crate) use exchange::StreamableHttp;
