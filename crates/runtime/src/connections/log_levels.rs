//! The log level of a server that the host has set, so that it can be set again after a reconnect.
//!
//! A level applies from the moment its request is sent, because the server may reconnect before it
//! answers. Of several concurrent requests the latest one applies, unless it fails.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wharf_config::ServerName;
use wharf_protocol::view::LogLevel;

/// The log levels by server; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogLevels(Arc<Mutex<BTreeMap<ServerName, RequestedLevel>>>);

/// The requested levels of one server, each with the number of its request.
#[derive(Debug, Default)]
struct RequestedLevel {
    confirmed: Option<(u64, LogLevel)>,
    pending: BTreeMap<u64, LogLevel>,
    last_id: u64,
}

/// A level whose request is running; removed on drop, unless the request succeeded.
#[must_use]
pub(crate) struct PendingLevel {
    levels: LogLevels,
    server: ServerName,
    id: u64,
}

impl LogLevels {
    /// Returns the level of a server, if one was set or is being set.
    pub(super) fn get(&self, server: &ServerName) -> Option<LogLevel> {
        self.table().get(server).and_then(RequestedLevel::level)
    }

    /// Records a level while its request is running.
    pub(crate) fn begin_change(&self, server: &ServerName, level: LogLevel) -> PendingLevel {
        let mut table = self.table();
        let wanted = table.entry(server.clone()).or_default();
        wanted.last_id += 1;
        wanted.pending.insert(wanted.last_id, level);
        PendingLevel { levels: self.clone(), server: server.clone(), id: wanted.last_id }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<ServerName, RequestedLevel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestedLevel {
    fn level(&self) -> Option<LogLevel> {
        let latest = self.pending.last_key_value().map(|(id, level)| (*id, *level));
        latest.into_iter().chain(self.confirmed).max_by_key(|(id, _)| *id).map(|(_, level)| level)
    }
}

impl PendingLevel {
    /// Keeps the level: the request succeeded.
    pub(crate) fn confirm(self) {
        let mut table = self.levels.table();
        let Some(wanted) = table.get_mut(&self.server) else { return };
        if let Some(level) = wanted.pending.remove(&self.id)
            && wanted.confirmed.is_none_or(|(id, _)| id < self.id)
        {
            wanted.confirmed = Some((self.id, level));
        }
    }
}

impl Drop for PendingLevel {
    fn drop(&mut self) {
        let mut table = self.levels.table();
        let Some(wanted) = table.get_mut(&self.server) else { return };
        wanted.pending.remove(&self.id);
        if wanted.confirmed.is_none() && wanted.pending.is_empty() {
            table.remove(&self.server);
        }
    }
}

#[cfg(test)]
mod tests {
    use LogLevel::{Debug, Error, Warning};

    use super::*;

    #[test]
    fn a_level_that_could_not_be_set_is_forgotten() {
        let (levels, name) = (LogLevels::default(), ServerName::new("fs"));
        let first = levels.begin_change(&name, Debug);
        assert_eq!(levels.get(&name), Some(Debug));
        drop(first);
        assert_eq!(levels.get(&name), None);
        assert!(levels.table().is_empty());
        levels.begin_change(&name, Error).confirm();
        drop(levels.begin_change(&name, Debug));
        assert_eq!(levels.get(&name), Some(Error));
        assert_eq!(levels.get(&ServerName::new("other")), None);
    }

    #[test]
    fn of_two_concurrent_changes_neither_undoes_the_other() {
        let name = ServerName::new("fs");
        let both = || {
            let levels = LogLevels::default();
            levels.begin_change(&name, Error).confirm();
            let (earlier, later) =
                (levels.begin_change(&name, Warning), levels.begin_change(&name, Debug));
            assert_eq!(levels.get(&name), Some(Debug));
            (levels, earlier, later)
        };
        let (levels, earlier, later) = both();
        later.confirm();
        drop(earlier);
        assert_eq!(levels.get(&name), Some(Debug), "the earlier one failed");
        let (levels, earlier, later) = both();
        earlier.confirm();
        drop(later);
        assert_eq!(levels.get(&name), Some(Warning), "the later one failed");
        let (levels, earlier, later) = both();
        later.confirm();
        earlier.confirm();
        assert_eq!(levels.get(&name), Some(Debug), "the later one counts");
        let (levels, earlier, later) = both();
        drop((later, earlier));
        assert_eq!(levels.get(&name), Some(Error), "both failed");
    }
}
