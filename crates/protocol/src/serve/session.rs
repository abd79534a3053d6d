//! What is remembered about a client of the older era between its requests.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::asks::Asks;
use super::outlet::Outlet;
use super::running::Running;
use crate::view::LogLevel;

/// How many resources one session may watch.
const MOST_WATCHED: usize = 10_000;

/// Names a session; whoever knows it may use the session, so it is drawn at random and never logged.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Draws a new id of 128 random bits.
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        let mut bits = [0_u8; 16];
        getrandom::fill(&mut bits)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bits)).into()))
    }

    /// Returns the id as a client sends it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// Does not show the id: it is as good as a password.
impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId(…)")
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    id: SessionId,
    outlet: Outlet,
    asks: Arc<Asks>,
    running: Running,
    settings: Mutex<Settings>,
}

#[derive(Debug, Default)]
struct Settings {
    level: Option<LogLevel>,
    watched: HashSet<String>,
}

impl Session {
    /// Makes a session whose own messages, those that belong to no call, go to `outlet`.
    pub(crate) fn new(id: SessionId, outlet: Outlet, running: Running) -> Self {
        Self { id, outlet, asks: Arc::default(), running, settings: Mutex::default() }
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    pub(crate) fn asks(&self) -> &Arc<Asks> {
        &self.asks
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.settings().level
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.settings().level = Some(level);
    }

    /// Notes that the client wants to hear of changes of a resource.
    pub(crate) fn watch(&self, uri: String) {
        let mut settings = self.settings();
        if settings.watched.len() < MOST_WATCHED {
            settings.watched.insert(uri);
        }
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.settings().watched.remove(uri);
    }

    pub(crate) fn watches(&self, uri: &str) -> bool {
        self.settings().watched.contains(uri)
    }

    /// Ends everything that is under way in it.
    pub(crate) fn end(&self) {
        self.asks.close();
        self.running.cancel_all();
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
