//! Writes to disk what is worth keeping, when nobody waits for it.
//!
//! Tools are cached after they were handed out: with a hundred servers the writing would otherwise
//! cost as much as the connecting. What is not written when the process is killed is found out anew.

use std::sync::{Mutex, PoisonError};

use crate::tools::cache::{CacheKey, CachedServer, ToolCache};

/// What waits to be written; of each entry only the latest counts.
#[derive(Default)]
pub(crate) struct Keeper(Mutex<Vec<(CacheKey, CachedServer)>>);

impl Keeper {
    /// Keeps the tools of a server for the next start.
    pub(super) fn keep(&self, key: CacheKey, server: CachedServer) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(other, _)| *other != key);
        all.push((key, server));
    }

    /// Tells whether there is anything to write.
    pub(super) fn has_work(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Writes everything. Blocks for as long as the disk takes.
    pub(super) fn write(&self, cache: &ToolCache) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        cache.store(&all);
    }
}
