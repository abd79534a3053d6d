//! A legacy session: its id, log level, resource subscriptions, and pending requests to the client.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::client_requests::ClientRequests;
use super::message_sink::MessageSink;
use super::running_calls::RunningCalls;
use crate::view::LogLevel;

/// How many resources one session may subscribe to.
const MAX_SUBSCRIBED_RESOURCES: usize = 10_000;

/// The id of a session. It grants access to the session, so it is random and never logged.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Generates an id of 128 random bits.
    pub(crate) fn generate() -> Result<Self, getrandom::Error> {
        let mut bits = [0_u8; 16];
        getrandom::fill(&mut bits)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bits)).into()))
    }

    /// Returns the id as it is in the HTTP header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// Does not print the id: it is a credential.
impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId(…)")
    }
}

#[derive(Debug)]
pub(crate) struct LegacySession {
    id: SessionId,
    sink: MessageSink,
    client_requests: Arc<ClientRequests>,
    running: RunningCalls,
    settings: Mutex<SessionSettings>,
}

#[derive(Debug, Default)]
struct SessionSettings {
    level: Option<LogLevel>,
    subscribed: HashSet<String>,
}

impl LegacySession {
    /// Creates a session; its messages that belong to no call go to `sink`.
    pub(crate) fn new(id: SessionId, sink: MessageSink, running: RunningCalls) -> Self {
        Self { id, sink, client_requests: Arc::default(), running, settings: Mutex::default() }
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn sink(&self) -> &MessageSink {
        &self.sink
    }

    pub(crate) fn client_requests(&self) -> &Arc<ClientRequests> {
        &self.client_requests
    }

    #[cfg(feature = "serve-http")]
    pub(crate) fn running_calls(&self) -> &RunningCalls {
        &self.running
    }

    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.settings().level
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.settings().level = Some(level);
    }

    /// Subscribes the client to updates of a resource.
    pub(crate) fn subscribe(&self, uri: String) {
        let mut settings = self.settings();
        if settings.subscribed.len() < MAX_SUBSCRIBED_RESOURCES {
            settings.subscribed.insert(uri);
        }
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.settings().subscribed.remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.settings().subscribed.contains(uri)
    }

    /// Ends its pending requests and running calls.
    pub(crate) fn end(&self) {
        self.client_requests.close();
        self.running.cancel_all();
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, SessionSettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
