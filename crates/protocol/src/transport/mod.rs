//! How bytes reach a server and come back: pipes of a process, Streamable HTTP, HTTP+SSE.
//!
//! `process` keeps the process tree, `stdio` speaks through its pipes; `events` reads event streams,
//! `streamable` and `http_sse` are the two ways MCP uses HTTP, which itself is
//! [`http_client`](crate::http_client).

mod authorize;
mod door;
mod events;
pub(crate) mod http_sse;
pub mod process;
pub(crate) mod stdio;
pub(crate) mod streamable;

pub use crate::http_client::{
    HttpClient, HttpError, HttpOptions, Origin, Phase, Proxies, Refusal, Target, TargetError,
};
pub use crate::session::{TraceEvent, Tracer};
pub use authorize::{Authorizer, Challenge, FixedHeaders, Pending, Verdict};

pub(crate) use door::{Address, Door, Posting};
#[cfg(any(test, fuzzing))]
pub(crate) use events::check as check_events;
pub(crate) use stdio::{Line, LineBuffer, PipeLink, Unsent};

use std::sync::Arc;

/// One of the ways to reach a server.
pub(crate) enum Link {
    /// The pipes of a child process.
    Pipe(PipeLink),
    /// One exchange per request.
    Streamable(Arc<streamable::Streamable>),
    /// Requests one way, everything else on one stream.
    EventStream(Arc<http_sse::HttpSse>),
}
