//! What a caller says about a connection before it is made.

use std::sync::Arc;
use std::time::Duration;

use crate::era::{KnownRevision, Revision};
use crate::session::SessionLimits;
use crate::transport::process::{GracePeriod, LogSink, ProcessLaunch, TaskTracker};
use crate::transport::{Authorizer, HttpClient, HttpTarget, Tracer};
use crate::view::send::{ClientCapabilities, ClientInfo};

/// Who connects, and with how much patience.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Who we are.
    pub client: ClientInfo,
    /// What we can do for a server.
    pub capabilities: ClientCapabilities,
    /// The revision the server spoke last time; it is tried first.
    pub remembered: Option<Revision>,
    /// The only revision to offer, for a server that misbehaves on others.
    pub pinned: Option<Revision>,
    /// What the server may cost.
    pub limits: SessionLimits,
    /// How long connecting may take in all.
    pub timeout: Duration,
    /// How long a server may be silent on the modern question until it is asked the legacy one,
    /// too.
    pub legacy_probe_delay: Duration,
    /// Sees everything that is said, for debugging.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Gets every task that connecting starts, those that end its processes included.
    ///
    /// Whoever drops an attempt can close it and wait, and then nothing of the attempt runs any
    /// more. Closing a peer waits for all of it, so every attempt needs a tracker of its own.
    pub tasks: TaskTracker,
}

impl ConnectOptions {
    /// Connects as `client`, with nothing to offer to servers and a tracker of its own.
    pub fn new(client: ClientInfo) -> Self {
        Self {
            client,
            capabilities: ClientCapabilities::default(),
            remembered: None,
            pinned: None,
            limits: SessionLimits::default(),
            timeout: Duration::from_secs(60),
            legacy_probe_delay: Duration::from_secs(3),
            tracer: None,
            tasks: TaskTracker::new(),
        }
    }
}

impl ConnectOptions {
    /// Returns what is known about the server before it is asked.
    pub(super) fn known_revision(&self) -> KnownRevision {
        match (self.pinned, self.remembered) {
            (Some(pinned), _) => KnownRevision::Pinned(pinned),
            (None, Some(remembered)) => KnownRevision::Remembered(remembered),
            (None, None) => KnownRevision::None,
        }
    }
}

/// A server that is started.
#[derive(Clone)]
pub struct StdioSpec {
    /// What to start; shared, because a host's environment is large and servers are many.
    pub launch: Arc<ProcessLaunch>,
    /// How patiently it is ended.
    pub grace: GracePeriod,
    /// Gets everything the server writes to its error output.
    pub log: Option<LogSink>,
}

impl StdioSpec {
    /// Starts `launch`, with the usual patience and no log.
    pub fn new(launch: impl Into<Arc<ProcessLaunch>>) -> Self {
        Self { launch: launch.into(), grace: GracePeriod::default(), log: None }
    }
}

/// A server that is reached over HTTP.
#[derive(Clone)]
pub struct HttpSpec {
    /// Where it is.
    pub target: HttpTarget,
    /// The client to reach it with; one client serves many servers.
    pub client: HttpClient,
    /// Adds headers to requests and deals with challenges.
    pub authorizer: Arc<dyn Authorizer>,
    /// Which of the HTTP transports to try.
    pub http_transport: HttpTransport,
}

/// Which of the two HTTP transports a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP first, then HTTP+SSE.
    #[default]
    Auto,
    /// HTTP+SSE first, as the configuration says so; then Streamable HTTP.
    PreferSse,
}
