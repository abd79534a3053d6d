//! How much servers should log, by the word of the host: remembered, as a server that comes back
//! has forgotten it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wharf_config::ServerName;
use wharf_protocol::view::LogLevel;

/// The levels that were asked for; clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels(Arc<Mutex<BTreeMap<ServerName, LogLevel>>>);

impl Levels {
    /// Returns what a server was told, if it was told anything.
    pub(super) fn of(&self, server: &ServerName) -> Option<LogLevel> {
        self.table().get(server).copied()
    }

    /// Remembers a level and returns the one before; none forgets it.
    pub(crate) fn set(&self, server: &ServerName, level: Option<LogLevel>) -> Option<LogLevel> {
        match level {
            Some(level) => self.table().insert(server.clone(), level),
            None => self.table().remove(server),
        }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<ServerName, LogLevel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
