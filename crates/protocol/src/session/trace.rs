//! The hook through which a caller sees every message and HTTP header of a connection.
//!
//! The data is exactly what was sent and received, including secrets: the tracer must redact it
//! before it is shown or stored.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "http")]
use http::{HeaderMap, Method, StatusCode};

use super::callbacks;
#[cfg(feature = "http")]
use crate::http_client::HttpTarget;

/// Gets everything that is sent and received on a connection. It is called in the tasks that read
/// and write the connection, so it must not block. A panic costs this event only.
pub trait Tracer: Send + Sync + 'static {
    /// Records one event.
    fn record(&self, event: TraceEvent<'_>);
}

/// Something that was sent or received.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum TraceEvent<'a> {
    /// A message to the server.
    Sent(&'a [u8]),
    /// A message of the server, or other text in its place.
    Received(&'a [u8]),
    /// An HTTP request; its body follows as a separate event.
    #[cfg(feature = "http")]
    HttpRequest {
        /// The method.
        method: &'a Method,
        /// The target.
        target: &'a HttpTarget,
        /// All headers, including credentials.
        headers: &'a HeaderMap,
    },
    /// The head of an HTTP response.
    #[cfg(feature = "http")]
    HttpResponse {
        /// The status.
        status: StatusCode,
        /// All headers.
        headers: &'a HeaderMap,
    },
}

/// Prints no content and no values of headers: they may be secret.
impl fmt::Debug for TraceEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(text) => write!(f, "Sent({} bytes)", text.len()),
            Self::Received(text) => write!(f, "Received({} bytes)", text.len()),
            #[cfg(feature = "http")]
            Self::HttpRequest { method, target, headers } => {
                let names: Vec<_> = headers.keys().collect();
                write!(f, "HttpRequest({method} {target:?} {names:?})")
            }
            #[cfg(feature = "http")]
            Self::HttpResponse { status, headers } => {
                let names: Vec<_> = headers.keys().collect();
                write!(f, "HttpResponse({status} {names:?})")
            }
        }
    }
}

/// Passes an event to the tracer, if there is one.
pub(crate) fn trace(tracer: Option<&Arc<dyn Tracer>>, event: TraceEvent<'_>) {
    if let Some(tracer) = tracer {
        // If the tracer panics, only its record of this event is missing.
        drop(callbacks::call(|| tracer.record(event)));
    }
}
