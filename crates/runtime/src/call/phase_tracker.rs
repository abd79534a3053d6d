//! Tracks the phase of a call, for a caller that drops its future: the future itself returns
//! nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::error::CallPhase;

/// Tracks the phase of a call; clones share it.
///
/// Each call needs its own: if calls share a tracker, it has the phase that one of them reached last.
#[derive(Debug, Clone, Default)]
pub struct PhaseTracker(Arc<AtomicU8>);

impl PhaseTracker {
    /// Returns the phase: `Connect` while the server is awaited, `Send` while the call is checked
    /// and approved, `Receive` once it may have been sent.
    pub fn phase(&self) -> CallPhase {
        match self.0.load(Ordering::Acquire) {
            0 => CallPhase::Connect,
            1 => CallPhase::Send,
            _ => CallPhase::Receive,
        }
    }

    pub(crate) fn set(&self, phase: CallPhase) {
        let number = match phase {
            CallPhase::Connect => 0,
            CallPhase::Send => 1,
            CallPhase::Receive | CallPhase::Decode | CallPhase::Protocol => 2,
        };
        self.0.store(number, Ordering::Release);
    }
}

/// The phase of one call. The host's tracker gets each change, but decides nothing: the host may
/// have given it to several calls.
#[derive(Debug)]
pub(crate) struct CallPhaseCell {
    own: PhaseTracker,
    host: PhaseTracker,
}

impl CallPhaseCell {
    pub(crate) fn new(host: &PhaseTracker) -> Self {
        Self { own: PhaseTracker::default(), host: host.clone() }
    }

    pub(crate) fn phase(&self) -> CallPhase {
        self.own.phase()
    }

    pub(crate) fn set(&self, phase: CallPhase) {
        self.own.set(phase);
        self.host.set(phase);
    }
}
