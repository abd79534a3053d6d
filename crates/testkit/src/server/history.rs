//! What a server went through, so that a client can ask about what it cannot see.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Counts events by name.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<BTreeMap<&'static str, u64>>);

impl History {
    /// Takes note of an event.
    pub(super) fn note(&self, event: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(event).or_default() += 1;
    }

    /// Returns how often each event happened.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
