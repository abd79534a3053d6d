//! How much servers should log, by the word of the host: remembered, as a server that comes back
//! has forgotten it.
//!
//! A level counts from the moment a server is being told, because it may come back meanwhile. Of
//! several at a time the one counts that was asked for last, unless the server could not be told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wharf_config::ServerName;
use wharf_protocol::view::LogLevel;

/// The levels that were asked for; clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels(Arc<Mutex<BTreeMap<ServerName, Wanted>>>);

/// What was asked for about one server, each with its turn.
#[derive(Debug, Default)]
struct Wanted {
    told: Option<(u64, LogLevel)>,
    being_told: BTreeMap<u64, LogLevel>,
    turns: u64,
}

/// A level that a server is being told; forgotten when it is dropped, unless it was kept.
#[must_use]
pub(crate) struct Telling {
    levels: Levels,
    server: ServerName,
    turn: u64,
}

impl Levels {
    /// Returns what a server was told, or is being told, if it is anything.
    pub(super) fn of(&self, server: &ServerName) -> Option<LogLevel> {
        self.table().get(server).and_then(Wanted::level)
    }

    /// Remembers a level for as long as a server is being told.
    pub(crate) fn tell(&self, server: &ServerName, level: LogLevel) -> Telling {
        let mut table = self.table();
        let wanted = table.entry(server.clone()).or_default();
        wanted.turns += 1;
        wanted.being_told.insert(wanted.turns, level);
        Telling { levels: self.clone(), server: server.clone(), turn: wanted.turns }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<ServerName, Wanted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    fn level(&self) -> Option<LogLevel> {
        let latest = self.being_told.last_key_value().map(|(turn, level)| (*turn, *level));
        latest.into_iter().chain(self.told).max_by_key(|(turn, _)| *turn).map(|(_, level)| level)
    }
}

impl Telling {
    /// Remembers the level from now on: the server was told.
    pub(crate) fn keep(self) {
        let mut table = self.levels.table();
        let Some(wanted) = table.get_mut(&self.server) else { return };
        if let Some(level) = wanted.being_told.remove(&self.turn)
            && wanted.told.is_none_or(|(turn, _)| turn < self.turn)
        {
            wanted.told = Some((self.turn, level));
        }
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        let mut table = self.levels.table();
        let Some(wanted) = table.get_mut(&self.server) else { return };
        wanted.being_told.remove(&self.turn);
        if wanted.told.is_none() && wanted.being_told.is_empty() {
            table.remove(&self.server);
        }
    }
}

#[cfg(test)]
mod tests {
    use LogLevel::{Debug, Error, Warning};

    use super::*;

    #[test]
    fn what_nobody_could_be_told_is_forgotten() {
        let (levels, name) = (Levels::default(), ServerName::new("fs"));
        let first = levels.tell(&name, Debug);
        assert_eq!(levels.of(&name), Some(Debug));
        drop(first);
        assert_eq!(levels.of(&name), None);
        assert!(levels.table().is_empty());
        levels.tell(&name, Error).keep();
        drop(levels.tell(&name, Debug));
        assert_eq!(levels.of(&name), Some(Error));
        assert_eq!(levels.of(&ServerName::new("other")), None);
    }

    #[test]
    fn of_two_at_a_time_neither_undoes_the_other() {
        let name = ServerName::new("fs");
        let both = || {
            let levels = Levels::default();
            levels.tell(&name, Error).keep();
            let (earlier, later) = (levels.tell(&name, Warning), levels.tell(&name, Debug));
            assert_eq!(levels.of(&name), Some(Debug));
            (levels, earlier, later)
        };
        let (levels, earlier, later) = both();
        later.keep();
        drop(earlier);
        assert_eq!(levels.of(&name), Some(Debug), "the earlier one failed");
        let (levels, earlier, later) = both();
        earlier.keep();
        drop(later);
        assert_eq!(levels.of(&name), Some(Warning), "the later one failed");
        let (levels, earlier, later) = both();
        later.keep();
        earlier.keep();
        assert_eq!(levels.of(&name), Some(Debug), "the later one counts");
        let (levels, earlier, later) = both();
        drop((later, earlier));
        assert_eq!(levels.of(&name), Some(Error), "both failed");
    }
}
