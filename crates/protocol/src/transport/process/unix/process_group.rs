//! A process group led by a child of ours, and the guard that kills it.
//!
//! Until the child is reaped, its pid is not reused, so signals to the group are safe. Only
//! `reaper` reaps.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
#[cfg(target_os = "linux")]
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::super::launch::ProcessLaunch;
use super::super::marker::Marker;
use super::pipes::{self, OurEnds};
use super::reaper;

/// The pids of all children that are not reaped.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Returns the pids of all children that are not reaped.
pub(super) fn leaders() -> MutexGuard<'static, BTreeSet<i32>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child, the process group that it leads, and the marker of its process tree.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    pub(super) pid: Pid,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux can search for it")
    )]
    pub(super) marker: Marker,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux has a process table to search")
    )]
    pub(super) spawned: Instant,
    is_reaped: bool,
}

/// Kills the process group when it is dropped; the reaper ends the rest of the tree.
#[derive(Debug)]
pub(super) struct GroupGuard {
    group: Option<ProcessGroup>,
    pid: Pid,
}

/// A child that was just started, with the parent's ends of its pipes.
pub(super) struct SpawnedChild {
    pub(super) guard: GroupGuard,
    pub(super) pipes: OurEnds,
}

/// Starts a program. Must be called on a thread that never ends.
pub(super) fn spawn(launch: &ProcessLaunch, marker: Marker) -> io::Result<SpawnedChild> {
    let (pipes, ends) = pipes::create()?;
    let spawned = Instant::now();
    #[cfg(target_os = "linux")]
    let pid = super::parent_death::start(super::exec_spec::ExecSpec::new(launch, marker)?, ends)?;
    #[cfg(not(target_os = "linux"))]
    let pid = super::std_spawn::start(launch, marker, ends)?;
    leaders().insert(pid.as_raw_nonzero().get());
    let group = ProcessGroup { pid, marker, spawned, is_reaped: false };
    Ok(SpawnedChild { guard: GroupGuard { group: Some(group), pid }, pipes })
}

impl ProcessGroup {
    /// Sends a signal to the group. The child must not be reaped yet.
    pub(super) fn signal(&self, signal: Signal) {
        // The leader may have moved to another group. An error means that it has exited.
        if kill_process_group(self.pid, signal).is_err() || signal == Signal::KILL {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Tells whether the child is a zombie: it has exited and is not reaped.
    #[cfg(target_os = "linux")]
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !self.is_reaped && matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(_)))
    }

    /// Reaps the child if it has exited. Returns whether it is reaped, now or before.
    pub(super) fn reap(&mut self) -> bool {
        // Once it is reaped, its pid may belong to another child, which must not be reaped here. An
        // error means that the child does not exist any more.
        if !self.is_reaped && !matches!(waitpid(Some(self.pid), WaitOptions::NOHANG), Ok(None)) {
            self.is_reaped = true;
            leaders().remove(&self.raw_pid());
        }
        self.is_reaped
    }

    /// Returns the pid of the child, which is also the id of the group.
    pub(super) fn raw_pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

impl GroupGuard {
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = &self.group {
            group.signal(signal);
        }
    }

    /// Returns the process group; the caller has to end it.
    pub(super) fn release(mut self) -> Option<ProcessGroup> {
        self.group.take()
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            group.signal(Signal::KILL);
            reaper::clean_up_in_background(group);
        }
    }
}
