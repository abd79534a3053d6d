//! Counts events in a server, so that a test can poll for what a client cannot see.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The number of events by name.
#[derive(Debug, Default)]
pub(super) struct EventCounts(Mutex<BTreeMap<&'static str, u64>>);

impl EventCounts {
    /// Counts an event.
    pub(super) fn add(&self, event: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(event).or_default() += 1;
    }

    /// Returns the number of each event.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
