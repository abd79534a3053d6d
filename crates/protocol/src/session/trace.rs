//! The hook through which a caller sees what is said on a connection, message by message.
//!
//! What is handed over is exactly what went over the wire, secrets included: whoever shows or keeps
//! it has to redact it first.

use http::{HeaderMap, Method, StatusCode};

use crate::http_client::HttpTarget;

/// Sees everything that is said on a connection. It is called where the connection is read and
/// written, so it must not wait.
pub trait Tracer: Send + Sync + 'static {
    /// Takes one event.
    fn record(&self, event: TraceEvent<'_>);
}

/// Something that was said.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TraceEvent<'a> {
    /// A message to the server.
    Sent(&'a [u8]),
    /// A message of the server, or something else where a message should be.
    Received(&'a [u8]),
    /// An HTTP request, whose body follows as an event of its own.
    HttpRequest {
        /// The method.
        method: &'a Method,
        /// Where it goes.
        target: &'a HttpTarget,
        /// All headers, credentials included.
        headers: &'a HeaderMap,
    },
    /// The head of an HTTP response.
    HttpResponse {
        /// The status.
        status: StatusCode,
        /// All headers.
        headers: &'a HeaderMap,
    },
}
