//! Writes to disk what is worth keeping, when nobody waits for it.
//!
//! Tools are cached after they were handed out: with a hundred servers the writing would otherwise
//! cost as much as the connecting. What is not written when the process is killed is found out anew.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gate::Ready;
use crate::store::attempts::LastAttempt;
use crate::store::tool_cache::{CacheKey, CachedServer, ToolCache};
use crate::store::files::Turn;

/// What waits to be written; of each entry only the latest counts.
#[derive(Default)]
pub(crate) struct Keeper {
    tools: Mutex<Vec<(CacheKey, CachedServer)>>,
    /// With the servers, not their keys: those are made when nobody waits.
    attempts: Mutex<Vec<(Arc<Ready>, LastAttempt)>>,
}

impl Keeper {
    /// Keeps the tools of a server for the next start.
    pub(super) fn keep(&self, key: CacheKey, server: CachedServer) {
        let mut all = lock(&self.tools);
        all.retain(|(other, _)| *other != key);
        all.push((key, server));
    }

    /// Keeps how an attempt to connect has just ended.
    pub(super) fn keep_attempt(&self, server: &Arc<Ready>, error: Option<&str>) {
        let mut all = lock(&self.attempts);
        all.retain(|(other, _)| !Arc::ptr_eq(other, server));
        all.push((Arc::clone(server), LastAttempt::now(error)));
    }

    /// Tells whether there is anything to write.
    pub(super) fn has_work(&self) -> bool {
        !lock(&self.tools).is_empty() || !lock(&self.attempts).is_empty()
    }

    /// Writes all tools. Blocks until it is one's turn, and for as long as the disk takes.
    pub(super) fn write(&self, turn: &Turn<'_>, cache: &ToolCache) {
        let all = std::mem::take(&mut *lock(&self.tools));
        cache.store(turn, &all);
    }

    /// Hands over the attempts that are not written yet, in the order in which they ended.
    pub(super) fn take_attempts(&self) -> Vec<(Arc<Ready>, LastAttempt)> {
        std::mem::take(&mut *lock(&self.attempts))
    }
}

fn lock<T>(all: &Mutex<T>) -> MutexGuard<'_, T> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
