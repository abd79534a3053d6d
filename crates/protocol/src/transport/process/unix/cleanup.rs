//! Process cleanup, a task of the reaper: finds the processes to end, sends SIGTERM, then SIGKILL.
//!
//! With a process table (Linux), it finds every process that is in the process group or has the
//! marker, and reaps the group leader last. Without one, it can only check whether the group is
//! empty, and only after the leader was reaped.

use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process_group, test_kill_process_group};
use tokio::sync::oneshot;

use super::super::process::StopMethod;
use super::process_group::ProcessGroup;
#[cfg(target_os = "linux")]
use super::process_table::{self, ProcessEntry, ProcessFilter, ProcessIdentity};

/// How long to wait for killed processes.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Within this time the kernel cannot use up all pids and reach the leader's pid again.
#[cfg(target_os = "linux")]
const YOUNG: Duration = Duration::from_secs(1);

/// Processes that the reaper has to end.
pub(super) struct CleanupTask {
    target: CleanupTarget,
    /// Processes get SIGTERM before this instant and SIGKILL after it.
    kill_at: Instant,
    /// Whether the group has got SIGTERM.
    group_signalled: bool,
    /// The processes that have got SIGTERM.
    #[cfg(target_os = "linux")]
    signalled: Vec<ProcessIdentity>,
    reply: Option<oneshot::Sender<usize>>,
}

enum CleanupTarget {
    ProcessGroup {
        group: ProcessGroup,
        /// When the leader started: no process of its tree is older.
        #[cfg(target_os = "linux")]
        started: u64,
    },
    Leftovers,
}

impl CleanupTask {
    /// Ends the remaining processes of a process group.
    pub(super) fn for_group(
        group: ProcessGroup,
        by: StopMethod,
        until: Instant,
        reply: Option<oneshot::Sender<usize>>,
    ) -> Self {
        let target = CleanupTarget::ProcessGroup {
            #[cfg(target_os = "linux")]
            started: process_table::start_time(group.pid).unwrap_or(0),
            group,
        };
        let until = if by == StopMethod::Kill { Instant::now() } else { until };
        let mut task = Self::new(target, until, reply);
        task.group_signalled = by != StopMethod::EndOfInput;
        task
    }

    /// Ends the processes that killed owners have left behind.
    pub(super) fn for_leftovers(until: Instant, reply: oneshot::Sender<usize>) -> Self {
        Self::new(CleanupTarget::Leftovers, until, Some(reply))
    }

    fn new(target: CleanupTarget, until: Instant, reply: Option<oneshot::Sender<usize>>) -> Self {
        Self {
            target,
            kill_at: until,
            group_signalled: false,
            #[cfg(target_os = "linux")]
            signalled: Vec::new(),
            reply,
        }
    }

    /// Drops the reply channel, so that the caller does not wait.
    pub(super) fn without_reply(self) -> Self {
        Self { reply: None, ..self }
    }

    /// Does one step of each cleanup and removes those that are done. Leaders that do not exit
    /// after SIGKILL are moved to `unkillable`.
    pub(super) fn run_round(tasks: &mut Vec<Self>, unkillable: &mut Vec<ProcessGroup>) {
        if tasks.is_empty() {
            return;
        }
        #[cfg(target_os = "linux")]
        let entries = process_table::read(&combined_filter(tasks));
        for mut task in std::mem::take(tasks) {
            let now = Instant::now();
            task.kill_now_if_nobody_waits(now);
            #[cfg(target_os = "linux")]
            let done = match &entries {
                Some(entries) => task.step(entries, now),
                None => task.step_without_table(now),
            };
            #[cfg(not(target_os = "linux"))]
            let done = task.step_without_table(now);
            if done || now > task.kill_at + KILL_LIMIT {
                task.finish(unkillable);
            } else {
                tasks.push(task);
            }
        }
    }

    /// Kills the group at once if nobody waits for its end: this process may exit at any time.
    fn kill_now_if_nobody_waits(&mut self, now: Instant) {
        let waits = self.reply.as_ref().is_some_and(|reply| !reply.is_closed());
        if !waits && matches!(self.target, CleanupTarget::ProcessGroup { .. }) {
            self.kill_at = self.kill_at.min(now);
        }
    }

    /// Signals all processes that were found. Returns whether there were none.
    #[cfg(target_os = "linux")]
    fn step(&mut self, entries: &[ProcessEntry], now: Instant) -> bool {
        let gentle = now < self.kill_at;
        let mut nothing = true;
        for entry in entries.iter().filter(|entry| self.target.includes(entry)) {
            nothing = false;
            let is_new = !self.signalled.contains(&entry.id);
            if is_new {
                self.signalled.push(entry.id);
            }
            let asked = self.group_signalled && self.target.is_group_of(entry);
            match (gentle, is_new && !asked) {
                (true, true) => {
                    entry.signal(Signal::TERM);
                    entry.signal(Signal::CONT);
                }
                (true, false) => {}
                (false, _) => entry.signal(Signal::KILL),
            }
        }
        let CleanupTarget::ProcessGroup { group, .. } = &mut self.target else { return nothing };
        if nothing {
            // The pid of the leader is not reused up to here.
            return group.reap();
        }
        if !gentle {
            // Unlike single signals, this also reaches processes that are being started just now.
            group.signal(Signal::KILL);
        }
        false
    }

    /// Ends a group without a list of its processes. Returns whether it is empty.
    fn step_without_table(&mut self, now: Instant) -> bool {
        let gentle = now < self.kill_at;
        let CleanupTarget::ProcessGroup { group, .. } = &mut self.target else { return true };
        if !group.reap() {
            if !gentle {
                group.signal(Signal::KILL);
            }
            return false;
        }
        // The leader is reaped, so only the other members keep the id of the group in use. It
        // cannot have been reused between two rounds, because the system reuses the oldest ids
        // first.
        if test_kill_process_group(group.pid).is_err() {
            return true;
        }
        let signal = if gentle { Signal::TERM } else { Signal::KILL };
        if !gentle || !self.group_signalled {
            self.group_signalled = true;
            let _ = kill_process_group(group.pid, signal);
        }
        false
    }

    fn finish(self, unkillable: &mut Vec<ProcessGroup>) {
        #[cfg(target_os = "linux")]
        let found = self.signalled.len();
        #[cfg(not(target_os = "linux"))]
        let found = 0;
        if let CleanupTarget::ProcessGroup { mut group, .. } = self.target
            && !group.reap()
        {
            let process = group.raw_pid();
            tracing::warn!(process, "a killed process does not exit");
            unkillable.push(group);
        }
        if let Some(reply) = self.reply {
            // The caller may not wait any more.
            let _ = reply.send(found);
        }
    }
}

#[cfg(target_os = "linux")]
impl CleanupTarget {
    fn includes(&self, entry: &ProcessEntry) -> bool {
        match self {
            Self::ProcessGroup { group, .. } => {
                self.is_group_of(entry) || entry.marker == Some(group.marker)
            }
            Self::Leftovers => entry.is_leftover(),
        }
    }

    fn is_group_of(&self, entry: &ProcessEntry) -> bool {
        match self {
            Self::ProcessGroup { group, .. } => entry.group == group.raw_pid(),
            Self::Leftovers => false,
        }
    }
}

/// Returns one filter for the processes of all cleanups.
#[cfg(target_os = "linux")]
fn combined_filter(tasks: &[CleanupTask]) -> ProcessFilter {
    let (groups, exited) = (Vec::new(), Vec::new());
    let mut filter = ProcessFilter { groups, since: u64::MAX, first_pid: i32::MAX, exited };
    for task in tasks {
        match &task.target {
            CleanupTarget::ProcessGroup { group, started } => {
                filter.groups.push(group.raw_pid());
                filter.exited.extend(group.has_exited().then(|| group.raw_pid()));
                filter.since = filter.since.min(*started);
                let is_young = group.spawned.elapsed() < YOUNG;
                filter.first_pid = filter.first_pid.min(if is_young { group.raw_pid() } else { 0 });
            }
            CleanupTarget::Leftovers => (filter.since, filter.first_pid) = (0, 0),
        }
    }
    filter
}
