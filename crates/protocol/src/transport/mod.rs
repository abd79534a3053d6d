//! The client transports: stdio, Streamable HTTP and HTTP+SSE.
//!
//! `process` owns the process tree and `stdio` uses its pipes. `streamable` and
//! `http_sse` send requests through `authorized_client`, which adds credentials, and read event
//! streams with `event_stream`, which parses them with `events`. HTTP itself is in `http_client`.

mod authorize;
mod authorized_client;
mod event_stream;
mod events;
pub(crate) mod http_sse;
pub mod process;
pub(crate) mod stdio;
pub(crate) mod streamable;

pub use crate::http_client::{
    HttpClient, HttpClientOptions, HttpError, HttpPhase, HttpTarget, HttpTargetError, Proxies,
    RedirectRefusal, UrlOrigin,
};
pub use crate::session::{TraceEvent, Tracer};
pub use authorize::{Authorizer, BoxFuture, Challenge, ChallengeAction, FixedHeaders};

pub(crate) use authorized_client::{AuthorizedClient, RequestParts, ServerAddress};
#[cfg(any(test, fuzzing))]
pub(crate) use events::check as check_events;
pub(crate) use stdio::{LimitedLine, LineBuffer, StdioTransport, WriteError};

use std::sync::Arc;

/// The transport of one connection.
pub(crate) enum ClientTransport {
    /// The pipes of a child process.
    Stdio(StdioTransport),
    /// One HTTP exchange per request.
    StreamableHttp(Arc<streamable::StreamableHttp>),
    /// Requests go out by POST, everything else arrives on one event stream.
    HttpSse(Arc<http_sse::HttpSse>),
}
