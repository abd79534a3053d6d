//! [`Peer`], the handle of a connection: the profile of the server, and plain requests to it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::connection::ClientConnection;
use super::meta_writer::MetaWriter;
use crate::Json;
use crate::era::{Era, HeaderParameter, Revision};
use crate::session::{
    ClientRequest, Deadline, Observer, RequestCause, RequestError, SessionEnd, SessionLimits,
    SessionViolation,
};
use crate::transport::process::StderrTail;
use crate::view::{Implementation, ServerCapabilities};

/// What the server has said about itself, and the negotiated revision.
#[derive(Debug, Clone)]
pub struct ServerProfile {
    /// The revision that both sides use.
    pub revision: Revision,
    /// Name and version of the server.
    pub server: Implementation,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// How the server wants to be used: untrusted text.
    pub instructions: Option<String>,
    /// The whole result of `initialize` or `server/discover`, unchanged.
    pub raw: Json,
}

/// The options of one request.
#[derive(Debug, Clone, Default)]
pub struct RequestOptions {
    /// How long to wait.
    pub deadline: Deadline,
    /// Whether progress is requested, and who gets it.
    pub progress: ProgressMode,
    /// Members for `_meta`, each with its value.
    pub meta: Vec<(String, Json)>,
    /// A value of the host that the handler gets with every request that the server sends because
    /// of this one.
    pub cause: Option<RequestCause>,
}

impl RequestOptions {
    /// Waits at most `limit`.
    pub fn within(limit: Duration) -> Self {
        Self { deadline: Deadline::within(limit), ..Self::default() }
    }
}

/// What happens with progress notifications.
#[derive(Clone, Default)]
pub enum ProgressMode {
    /// No progress is requested.
    #[default]
    Off,
    /// They only extend the idle timeout.
    KeepAlive,
    /// They extend the idle timeout and go to a listener, which must return at once. A listener that
    /// panics is not called again; its request goes on.
    Listener(Arc<dyn Fn(Json) + Send + Sync>),
}

impl fmt::Debug for ProgressMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "Off",
            Self::KeepAlive => "KeepAlive",
            Self::Listener(_) => "Listener(…)",
        })
    }
}

/// The parts of a request besides its parameters and options.
pub(super) struct RequestExtras<'a> {
    /// Who gets its notifications.
    pub(super) observer: Observer,
    /// Headers that repeat parameters; sent only over HTTP.
    pub(super) headers: &'a [(HeaderName, HeaderValue)],
}

/// A connection to a server; clones are cheap and share it.
///
/// The session ends when the last clone is dropped, or by [`Peer::close`].
#[derive(Clone)]
pub struct Peer(pub(super) Arc<PeerInner>);

/// Prints what the server is and how it is reached.
impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("server", &self.0.profile.server)
            .field("revision", &self.revision())
            .field("transport", &self.transport())
            .field("has_ended", &self.has_ended())
            .finish_non_exhaustive()
    }
}

pub(super) struct PeerInner {
    pub(super) connection: ClientConnection,
    pub(super) profile: ServerProfile,
    pub(super) meta_writer: MetaWriter,
    /// The parameters of each tool that are repeated in headers (2026-07-28 over HTTP).
    header_parameters: Mutex<HashMap<String, Arc<[HeaderParameter]>>>,
}

impl Peer {
    pub(crate) fn new(
        connection: ClientConnection,
        profile: ServerProfile,
        meta_writer: MetaWriter,
    ) -> Self {
        if profile.revision.era() == Era::Modern {
            connection.core.set_modern();
        }
        Self(Arc::new(PeerInner {
            connection,
            profile,
            meta_writer,
            header_parameters: Mutex::default(),
        }))
    }

    /// Returns what the server has said about itself.
    pub fn profile(&self) -> &ServerProfile {
        &self.0.profile
    }

    /// Returns the revision that both sides use.
    pub fn revision(&self) -> Revision {
        self.0.profile.revision
    }

    /// Returns the era that the revision belongs to.
    pub fn era(&self) -> Era {
        self.revision().era()
    }

    /// Returns the transport by name: `stdio`, `pipe`, `in-process`, `http` or `sse`.
    pub fn transport(&self) -> &'static str {
        self.0.connection.transport.name()
    }

    /// Returns the protocol violations of the server so far.
    pub fn violations(&self) -> Vec<SessionViolation> {
        self.0.connection.core.violations.all()
    }

    /// Returns the limits for the server.
    pub(crate) fn limits(&self) -> SessionLimits {
        self.0.connection.core.limits
    }

    /// Sends a request and returns the result unchanged.
    ///
    /// Dropping the future cancels the request.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
    ) -> Result<Json, RequestError> {
        self.request_with_headers(method, params, options, &[]).await
    }

    pub(super) fn request_with_headers<'a>(
        &'a self,
        method: &'a str,
        params: Option<&'a Json>,
        options: &RequestOptions,
        headers: &'a [(HeaderName, HeaderValue)],
    ) -> impl Future<Output = Result<Json, RequestError>> + Send + use<'a> {
        let observer = match &options.progress {
            ProgressMode::Off => Observer::None,
            ProgressMode::KeepAlive => Observer::Timer,
            ProgressMode::Listener(listener) => Observer::Listener(Arc::clone(listener)),
        };
        self.request_observed(method, params, options, RequestExtras { observer, headers })
    }

    /// Builds a request; it is sent when the future is first polled.
    ///
    /// This and the function above are not `async`, because an `async` function would store its
    /// arguments a second time in its future.
    pub(super) fn request_observed<'a>(
        &'a self,
        method: &'a str,
        params: Option<&'a Json>,
        options: &RequestOptions,
        extras: RequestExtras<'a>,
    ) -> impl Future<Output = Result<Json, RequestError>> + Send + use<'a> {
        let RequestExtras { observer, headers } = extras;
        let PeerInner { connection, meta_writer, .. } = &*self.0;
        let id = connection.core.next_id();
        let message = meta_writer.request(id, method, params, options);
        let request = ClientRequest {
            id,
            method,
            params,
            message,
            deadline: options.deadline,
            observer,
            cause: options.cause.clone(),
            headers,
        };
        connection.send_request(request)
    }

    /// Sends a notification.
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(), RequestError> {
        self.0.connection.notify(method, params).await
    }

    /// Waits until the session has ended, and returns how.
    pub async fn ended(&self) -> Arc<SessionEnd> {
        let core = &self.0.connection.core;
        loop {
            core.ended.cancelled().await;
            if let Some(ended) = core.pending.ended() {
                return ended;
            }
        }
    }

    /// Tells whether the session has ended.
    pub fn has_ended(&self) -> bool {
        self.0.connection.core.pending.ended().is_some()
    }

    /// Ends the session and waits until all its tasks and processes have ended.
    pub async fn close(&self) {
        self.0.connection.close().await;
    }

    /// Returns the last part of the server's stderr; empty unless Wharf started its process.
    pub fn stderr(&self) -> String {
        self.0.connection.stderr()
    }

    /// Returns how many bytes the server has written to stderr, for [`Peer::stderr_since`].
    pub fn stderr_position(&self) -> u64 {
        self.0.connection.stderr_tail().map_or(0, StderrTail::position)
    }

    /// Returns the server's stderr after a position.
    pub fn stderr_since(&self, position: u64) -> String {
        let tail = self.0.connection.stderr_tail();
        tail.map(|tail| tail.text_since(position)).unwrap_or_default()
    }

    pub(super) fn header_parameters(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        self.0.header_parameters.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }
}

impl PeerInner {
    pub(super) fn set_header_parameters(
        &self,
        header_parameters: HashMap<String, Arc<[HeaderParameter]>>,
    ) {
        *self.header_parameters.lock().unwrap_or_else(PoisonError::into_inner) = header_parameters;
    }
}
