//! The client transports: stdio, pipes of the program's own, Streamable HTTP and HTTP+SSE.
//!
//! `lines` reads and writes messages on a byte stream. `process` owns the process tree, `stdio` uses
//! its pipes, and `pipe` uses any stream that the program opens. `streamable` and
//! `http_sse` send requests through `authorized_client`, which adds credentials, and read event
//! streams with `event_stream`, which parses them with `events`. HTTP itself is in `http_client`.

#[cfg(feature = "http")]
mod authorize;
#[cfg(feature = "http")]
mod authorized_client;
#[cfg(feature = "http")]
mod event_stream;
#[cfg(any(feature = "http", test, fuzzing))]
mod events;
#[cfg(feature = "http")]
pub(crate) mod http_sse;
mod lines;
pub(crate) mod pipe;
pub mod process;
pub(crate) mod stdio;
#[cfg(feature = "http")]
pub(crate) mod streamable;

#[cfg(feature = "http")]
pub use crate::http_client::{
    AddressPolicy, HttpClient, HttpClientOptions, HttpError, HttpPhase, HttpTarget,
    HttpTargetError, Proxies, RedirectRefusal, UrlOrigin, WebRequest,
};
pub use crate::session::{TraceEvent, Tracer};
#[cfg(feature = "http")]
pub use authorize::{AuthorizedRequest, Authorizer, Challenge, ChallengeAction, FixedHeaders};
pub use pipe::{Pipe, PipeOpener};

#[cfg(feature = "http")]
pub(crate) use authorized_client::{AuthorizedClient, RequestParts, ServerAddress};
#[cfg(any(test, fuzzing))]
pub(crate) use events::check as check_events;
#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) use lines::{LimitedLine, LineBuffer};
pub(crate) use lines::{LineTransport, WriteError};

use std::future::Future;
use std::pin::Pin;
#[cfg(feature = "http")]
use std::sync::Arc;

/// A boxed future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The transport of one connection.
pub(crate) enum ClientTransport {
    /// Lines to and from a child process, or on a pipe of the program.
    Lines(LineTransport),
    /// One HTTP exchange per request.
    #[cfg(feature = "http")]
    StreamableHttp(Arc<streamable::StreamableHttp>),
    /// Requests go out by POST, everything else arrives on one event stream.
    #[cfg(feature = "http")]
    HttpSse(Arc<http_sse::HttpSse>),
}

impl ClientTransport {
    /// Returns the transport by name: `stdio`, `pipe`, `in-process`, `http` or `sse`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Lines(lines) => lines.name(),
            #[cfg(feature = "http")]
            Self::StreamableHttp(_) => "http",
            #[cfg(feature = "http")]
            Self::HttpSse(_) => "sse",
        }
    }

    /// Tells whether requests carry headers of the protocol, which repeat parameters.
    pub(crate) fn has_headers(&self) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::StreamableHttp(_) => true,
            _ => false,
        }
    }
}
