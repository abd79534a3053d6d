//! The options of a connection, and the specification of a server over stdio or HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::era::{KnownRevision, Revision};
use crate::session::SessionLimits;
use crate::transport::Tracer;
use crate::transport::process::{GracePeriod, LogSink, ProcessLaunch, TaskTracker};
#[cfg(feature = "http")]
use crate::transport::{Authorizer, HttpClient, HttpTarget};
use crate::view::send::{ClientCapabilities, ClientInfo};

/// The options of a connection.
#[derive(Clone)]
pub struct ConnectOptions {
    /// The name and version of this client.
    pub client: ClientInfo,
    /// The capabilities of this client.
    pub capabilities: ClientCapabilities,
    /// The revision of the server in the last run; it is tried first.
    pub remembered: Option<Revision>,
    /// The only revision to offer, for a server that misbehaves on others.
    pub pinned: Option<Revision>,
    /// The limits for the server.
    pub limits: SessionLimits,
    /// How long connecting may take in all.
    pub timeout: Duration,
    /// How long to wait for a response to the modern probe before the legacy probe is sent, too.
    pub legacy_probe_delay: Duration,
    /// Gets everything that is sent and received, for debugging.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Tracks every task of the connection, including those that end its processes.
    ///
    /// After an attempt was dropped, close the tracker and wait for it: then nothing of the attempt
    /// is running. Closing a peer waits for the whole tracker, so each attempt needs its own
    /// tracker.
    pub tasks: TaskTracker,
}

impl ConnectOptions {
    /// Creates options for `client`, without capabilities and with a new tracker.
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
    /// Returns what is known about the revision before the first probe.
    pub(super) fn known_revision(&self) -> KnownRevision {
        match (self.pinned, self.remembered) {
            (Some(pinned), _) => KnownRevision::Pinned(pinned),
            (None, Some(remembered)) => KnownRevision::Remembered(remembered),
            (None, None) => KnownRevision::None,
        }
    }
}

/// Prints everything but the tracker; of the tracer, only whether there is one.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("client", &self.client)
            .field("capabilities", &self.capabilities)
            .field("remembered", &self.remembered)
            .field("pinned", &self.pinned)
            .field("limits", &self.limits)
            .field("timeout", &self.timeout)
            .field("legacy_probe_delay", &self.legacy_probe_delay)
            .field("has_tracer", &self.tracer.is_some())
            .finish_non_exhaustive()
    }
}

/// A server that is started as a process.
#[derive(Clone)]
pub struct StdioSpec {
    /// The process to start; shared, because a host has many servers and a large environment.
    pub launch: Arc<ProcessLaunch>,
    /// How long the server may take to exit.
    pub grace: GracePeriod,
    /// Gets everything that the server writes to stderr.
    pub log: Option<LogSink>,
}

impl StdioSpec {
    /// Starts `launch`, with the default grace period and no log.
    pub fn new(launch: impl Into<Arc<ProcessLaunch>>) -> Self {
        Self { launch: launch.into(), grace: GracePeriod::default(), log: None }
    }
}

/// Prints the launch as its own output does: without values that may be secret.
impl fmt::Debug for StdioSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioSpec")
            .field("launch", &self.launch)
            .field("grace", &self.grace)
            .field("has_log", &self.log.is_some())
            .finish()
    }
}

/// A server that is reached over HTTP.
#[cfg(feature = "http")]
#[derive(Clone)]
pub struct HttpSpec {
    /// The address.
    pub target: HttpTarget,
    /// The HTTP client; one client can be used for many servers.
    pub client: HttpClient,
    /// Adds headers to requests and handles challenges.
    pub authorizer: Arc<dyn Authorizer>,
    /// Which HTTP transport to try first.
    pub http_transport: HttpTransport,
}

/// Prints the address as its own output does, and nothing of the credentials.
#[cfg(feature = "http")]
impl fmt::Debug for HttpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSpec")
            .field("target", &self.target)
            .field("http_transport", &self.http_transport)
            .finish_non_exhaustive()
    }
}

/// Which of the two HTTP transports is tried first.
#[cfg(feature = "http")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP first, then HTTP+SSE.
    #[default]
    Auto,
    /// HTTP+SSE first, because the configuration says so; then Streamable HTTP.
    PreferSse,
}
