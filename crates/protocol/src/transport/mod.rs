//! How bytes reach a server and come back: pipes of a process, Streamable HTTP, HTTP+SSE.
//!
//! `process` keeps the process tree, `stdio` speaks through its pipes; `events` reads event
//! streams, `streamable` and `http_sse` are the two ways MCP uses HTTP, which itself is
//! [`http_client`](crate::http_client).

mod authorize;
mod authorized_client;
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
pub(crate) use stdio::{LineBuffer, OutputLine, SendError, StdioTransport};

use std::sync::Arc;

/// One of the ways to reach a server.
pub(crate) enum ClientTransport {
    /// The pipes of a child process.
    Stdio(StdioTransport),
    /// One exchange per request.
    StreamableHttp(Arc<streamable::StreamableHttp>),
    /// Requests one way, everything else on one stream.
    HttpSse(Arc<http_sse::HttpSse>),
}
