//! The client transports: stdio, pipes of the program's own, Streamable HTTP and HTTP+SSE.
//!
//! `lines` reads and writes messages on a byte stream. `process` owns the process tree, `stdio` uses
//! its pipes, and `pipe` uses any stream that the program opens. `streamable` and
//! `http_sse` send requests through `authorized_client`, which adds credentials, and read event
//! streams with `event_stream`, which parses them with `events`. HTTP itself is in `http_client`.

mod authorize;
mod authorized_client;
mod event_stream;
mod events;
pub(crate) mod http_sse;
mod lines;
pub(crate) mod pipe;
pub mod process;
pub(crate) mod stdio;
pub(crate) mod streamable;

pub use crate::http_client::{
    HttpClient, HttpClientOptions, HttpError, HttpPhase, HttpTarget, HttpTargetError, Proxies,
    RedirectRefusal, UrlOrigin,
};
pub use crate::session::{TraceEvent, Tracer};
pub use authorize::{Authorizer, Challenge, ChallengeAction, FixedHeaders};
pub use pipe::{Pipe, PipeOpener};

pub(crate) use authorized_client::{AuthorizedClient, RequestParts, ServerAddress};
#[cfg(any(test, fuzzing))]
pub(crate) use events::check as check_events;
pub(crate) use lines::{LimitedLine, LineBuffer, LineTransport, WriteError};

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The transport of one connection.
pub(crate) enum ClientTransport {
    /// Lines to and from a child process, or on a pipe of the program.
    Lines(LineTransport),
    /// One HTTP exchange per request.
    StreamableHttp(Arc<streamable::StreamableHttp>),
    /// Requests go out by POST, everything else arrives on one event stream.
    HttpSse(Arc<http_sse::HttpSse>),
}
