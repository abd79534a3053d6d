//! A child that leads its own group, and the guard that ends it.
//!
//! As long as the child is not collected, its number belongs to it, so signals to the group are
//! safe. Only `reaper` collects.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use super::super::launch::Launch;
use super::super::marker::Marker;
use super::pipes::{self, OurEnds};
use super::reaper;

/// The numbers of all children that are not collected.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Returns the numbers of all children that are not collected.
pub(super) fn leaders() -> MutexGuard<'static, BTreeSet<i32>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child, the group that it leads, and the marker that the rest of its tree carries.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) pid: Pid,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody can look for it"))]
    pub(super) marker: Marker,
    collected: bool,
}

/// Kills the group when it is dropped, and leaves the rest to the reaper.
#[derive(Debug)]
pub(super) struct Guard {
    family: Option<Family>,
    pid: Pid,
}

/// A child that was just started, with our ends of its pipes.
pub(super) struct Born {
    pub(super) guard: Guard,
    pub(super) pipes: OurEnds,
}

/// Starts a program. Must run on a thread that never ends.
pub(super) fn spawn(launch: &Launch, marker: Marker) -> io::Result<Born> {
    let (pipes, ends) = pipes::make()?;
    #[cfg(target_os = "linux")]
    let pid = super::parent_death::start(super::order::Order::new(launch, marker)?, ends)?;
    #[cfg(not(target_os = "linux"))]
    let pid = super::plain::start(launch, marker, ends)?;
    leaders().insert(pid.as_raw_nonzero().get());
    let family = Family { pid, marker, collected: false };
    Ok(Born { guard: Guard { family: Some(family), pid }, pipes })
}

impl Family {
    /// Sends a signal to the group. The child must not be collected yet.
    pub(super) fn signal(&self, signal: Signal) {
        // The leader may have moved to another group. An error means that it has exited.
        if kill_process_group(self.pid, signal).is_err() || signal == Signal::KILL {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Collects the child if it has exited. Returns whether it is gone, now or since before.
    pub(super) fn collect(&mut self) -> bool {
        // Once it is collected, its number may be another child's, which is not ours to collect. An
        // error means that there is no such child any more.
        if !self.collected && !matches!(waitpid(Some(self.pid), WaitOptions::NOHANG), Ok(None)) {
            self.collected = true;
            leaders().remove(&self.number());
        }
        self.collected
    }

    /// Returns the number of the child and of its group.
    pub(super) fn number(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

impl Guard {
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(family) = &self.family {
            family.signal(signal);
        }
    }

    /// Returns the family to somebody who ends it.
    pub(super) fn release(mut self) -> Option<Family> {
        self.family.take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(family) = self.family.take() {
            family.signal(Signal::KILL);
            reaper::bury(family);
        }
    }
}
