//! How far a call has come, for whoever may give it up: a dropped future says nothing about itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::error::Phase;

/// How far a call has come; clones tell the same.
#[derive(Debug, Clone, Default)]
pub struct CallStage(Arc<AtomicU8>);

impl CallStage {
    /// Returns the phase: `Connect` while the server is waited for, `Send` while the call is checked and
    /// approved, `Receive` once it may have been sent.
    pub fn phase(&self) -> Phase {
        match self.0.load(Ordering::Acquire) {
            0 => Phase::Connect,
            1 => Phase::Send,
            _ => Phase::Receive,
        }
    }

    pub(crate) fn reach(&self, phase: Phase) {
        let number = match phase {
            Phase::Connect => 0,
            Phase::Send => 1,
            Phase::Receive | Phase::Decode | Phase::Protocol => 2,
        };
        self.0.store(number, Ordering::Release);
    }
}
