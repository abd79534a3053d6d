//! Writes to disk what is worth keeping, when nobody waits for it.
//!
//! Tools are cached and pinned after they were handed out: with a hundred servers the writing would
//! otherwise cost as much as the connecting. What is not written when the process is killed is
//! found out anew.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use wharf_config::ServerName;

use crate::tools::cache::{CacheKey, CachedServer, ToolCache};
use crate::tools::pins::PinWrite;

/// What waits to be written; of each server only the latest counts.
#[derive(Default)]
pub(crate) struct Keeper(Mutex<HashMap<ServerName, Kept>>);

struct Kept {
    cached: (CacheKey, CachedServer),
    pinned: Option<PinWrite>,
}

impl Keeper {
    /// Keeps the tools of a server for the next start, and what they look like for comparison.
    pub(super) fn keep(
        &self,
        server: &ServerName,
        cached: (CacheKey, CachedServer),
        pinned: Option<PinWrite>,
    ) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = all.remove(server).and_then(|kept| kept.pinned);
        all.insert(server.clone(), Kept { cached, pinned: pinned.or(earlier) });
    }

    /// Tells whether there is anything to write.
    pub(super) fn has_work(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Writes everything. Blocks for as long as the disk takes.
    pub(crate) fn write(&self, cache: &ToolCache) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !all.is_empty() {
            cache.forget_old();
        }
        for (server, Kept { cached: (key, cached), pinned }) in all {
            cache.store(&key, &cached);
            if let Some(Err(error)) = pinned.map(PinWrite::write) {
                tracing::warn!(%server, %error, "could not write down what its tools look like");
            }
        }
    }
}
