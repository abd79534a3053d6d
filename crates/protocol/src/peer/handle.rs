//! The handle itself: who is on the other side, and requests in the words of its revision.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::connection::ClientConnection;
use super::meta_writer::MetaWriter;
use crate::envelope;
use crate::era::{Era, HeaderParameter, Revision};
use crate::session::{
    ClientRequest, Deadline, Observer, RequestError, SessionEnd, SessionLimits, Warning,
};
use crate::transport::process::StderrTail;
use crate::view::{Implementation, ServerCapabilities};
use crate::{Json, transport};

/// Who a server says it is, and what it speaks.
#[derive(Debug, Clone)]
pub struct ServerProfile {
    /// The revision that both sides use.
    pub revision: Revision,
    /// Name and version of the server.
    pub server: Implementation,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// How the server wants to be used: foreign text.
    pub instructions: Option<String>,
    /// Everything the server said about itself, as it came.
    pub raw: Json,
}

/// How one request is made.
#[derive(Clone, Default)]
pub struct RequestOptions {
    /// How long to wait.
    pub deadline: Deadline,
    /// Whether the server is asked for progress, and who hears of it.
    pub progress: ProgressMode,
    /// Members for `_meta`, each with its value.
    pub meta: Vec<(String, Json)>,
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
    /// The server is not asked for any.
    #[default]
    Off,
    /// They only keep the request from timing out.
    KeepAlive,
    /// They also go to a listener, which must return at once.
    Listener(Arc<dyn Fn(Json) + Send + Sync>),
}

/// What a request has beside its parameters and options.
pub(super) struct RequestExtras<'a> {
    /// Who watches it while the server works on it.
    pub(super) observer: Observer,
    /// Headers that mirror parameters; only HTTP sends them.
    pub(super) headers: &'a [(HeaderName, HeaderValue)],
}

/// A connection to a server; clones are cheap and share it.
///
/// The session ends when the last clone is dropped, or by [`Peer::close`].
#[derive(Clone)]
pub struct Peer(pub(super) Arc<PeerInner>);

pub(super) struct PeerInner {
    pub(super) connection: ClientConnection,
    pub(super) profile: ServerProfile,
    pub(super) meta_writer: MetaWriter,
    /// Which parameters of which tools travel as headers (2026-07-28 over HTTP).
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

    /// Returns what the server said about itself.
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

    /// Returns the transport by name: `stdio`, `http` or `sse`.
    pub fn transport(&self) -> &'static str {
        match &self.0.connection.transport {
            transport::ClientTransport::Stdio(_) => "stdio",
            transport::ClientTransport::StreamableHttp(_) => "http",
            transport::ClientTransport::HttpSse(_) => "sse",
        }
    }

    /// Returns the rules that the server broke so far.
    pub fn warnings(&self) -> Vec<Warning> {
        self.0.connection.core.warnings.all()
    }

    /// Returns what a server may cost.
    pub fn limits(&self) -> SessionLimits {
        self.0.connection.core.limits
    }

    /// Sends a request and returns the result as it came.
    ///
    /// Dropping the future tells the server that nobody waits any more.
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

    /// Words a request, which is sent when the future is first polled.
    ///
    /// These two are no `async` functions: each would keep its arguments beside those of the next.
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
        let wants_progress = !matches!(options.progress, ProgressMode::Off);
        let token = wants_progress.then_some(id);
        let worded = meta_writer.params(params, token, &options.meta);
        let message = envelope::request(id, method, worded.as_ref());
        let request = ClientRequest {
            id,
            method,
            params,
            message,
            deadline: options.deadline,
            observer,
            headers,
        };
        connection.send_request(request)
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), RequestError> {
        self.0.connection.notify(method, params).await
    }

    /// Waits until the session is over, and says how it ended.
    pub async fn ended(&self) -> Arc<SessionEnd> {
        let core = &self.0.connection.core;
        loop {
            core.ended.cancelled().await;
            if let Some(ended) = core.pending.ended() {
                return ended;
            }
        }
    }

    /// Tells whether the session is over.
    pub fn has_ended(&self) -> bool {
        self.0.connection.core.pending.ended().is_some()
    }

    /// Ends the session and waits until nothing of it is left, neither task nor process.
    pub async fn close(&self) {
        self.0.connection.close().await;
    }

    /// Returns what the server wrote to its error output lately; empty for remote servers.
    pub fn stderr(&self) -> String {
        self.0.connection.stderr()
    }

    /// Returns how far the server's error output has come, for [`Peer::stderr_since`].
    pub fn stderr_position(&self) -> u64 {
        self.0.connection.stderr_tail().map_or(0, StderrTail::position)
    }

    /// Returns what the server wrote to its error output after a position.
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
