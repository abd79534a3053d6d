//! What a caller says about a connection before it is made.

use std::sync::Arc;
use std::time::Duration;

use crate::era::{Prior, Revision};
use crate::session::Limits;
use crate::transport::process::{Grace, Launch, LogSink, TaskTracker};
use crate::transport::{Authorizer, HttpClient, Target, Tracer};
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
    pub limits: Limits,
    /// How long connecting may take in all.
    pub timeout: Duration,
    /// How long a server may be silent on the modern question until it is asked the legacy one, too.
    pub silence: Duration,
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
            limits: Limits::default(),
            timeout: Duration::from_secs(60),
            silence: Duration::from_secs(3),
            tracer: None,
            tasks: TaskTracker::new(),
        }
    }
}

impl ConnectOptions {
    /// Returns what is known about the server before it is asked.
    pub(super) fn prior(&self) -> Prior {
        match (self.pinned, self.remembered) {
            (Some(pinned), _) => Prior::Pinned(pinned),
            (None, Some(remembered)) => Prior::Remembered(remembered),
            (None, None) => Prior::Nothing,
        }
    }
}

/// A server that is started.
#[derive(Clone)]
pub struct StdioSpec {
    /// What to start; shared, because a host's environment is large and servers are many.
    pub launch: Arc<Launch>,
    /// How patiently it is ended.
    pub grace: Grace,
    /// Gets everything the server writes to its error output.
    pub log: Option<LogSink>,
}

impl StdioSpec {
    /// Starts `launch`, with the usual patience and no log.
    pub fn new(launch: impl Into<Arc<Launch>>) -> Self {
        Self { launch: launch.into(), grace: Grace::default(), log: None }
    }
}

/// A server that is reached over HTTP.
#[derive(Clone)]
pub struct HttpSpec {
    /// Where it is.
    pub target: Target,
    /// The client to reach it with; one client serves many servers.
    pub client: HttpClient,
    /// Adds headers to requests and deals with challenges.
    pub authorizer: Arc<dyn Authorizer>,
    /// Which of the HTTP transports to try.
    pub flavor: HttpFlavor,
}

/// Which of the two HTTP transports a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpFlavor {
    /// Streamable HTTP first, then HTTP+SSE.
    #[default]
    Any,
    /// HTTP+SSE first, as the configuration says so; then Streamable HTTP.
    EventStream,
}
