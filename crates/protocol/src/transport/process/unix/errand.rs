//! One errand of the reaper: find certain processes, ask them to terminate, kill them.
//!
//! With a list of processes (Linux) everything is found that is in the group or carries the marker,
//! and the leader is collected last. Without one, only the group can be asked whether it is empty,
//! and only after its leader was collected.

use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process_group, test_kill_process_group};
use tokio::sync::oneshot;

use super::super::process::EndedBy;
use super::family::Family;
#[cfg(target_os = "linux")]
use super::table::{self, Entry, Identity, Wanted};

/// How long killed processes may take to vanish before nobody waits for them any more.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Something that the reaper has to end.
pub(super) struct Errand {
    target: Target,
    /// Until when processes are asked; afterwards they are killed.
    gentle_until: Instant,
    /// Whether the group was asked already.
    group_told: bool,
    /// Who was asked already.
    #[cfg(target_os = "linux")]
    told: Vec<Identity>,
    reply: Option<oneshot::Sender<usize>>,
}

enum Target {
    Family {
        family: Family,
        /// When the leader started: nothing of its tree is older.
        #[cfg(target_os = "linux")]
        started: u64,
    },
    Orphans,
}

impl Errand {
    /// Clears a family that was ended in some way.
    pub(super) fn clear(
        family: Family,
        by: EndedBy,
        until: Instant,
        reply: Option<oneshot::Sender<usize>>,
    ) -> Self {
        let target = Target::Family {
            #[cfg(target_os = "linux")]
            started: table::start_of(family.pid).unwrap_or(0),
            family,
        };
        let until = if by == EndedBy::Kill { Instant::now() } else { until };
        let mut errand = Self::new(target, until, reply);
        errand.group_told = by != EndedBy::EndOfInput;
        errand
    }

    /// Ends everything that killed owners have left.
    pub(super) fn sweep(until: Instant, reply: oneshot::Sender<usize>) -> Self {
        Self::new(Target::Orphans, until, Some(reply))
    }

    fn new(target: Target, until: Instant, reply: Option<oneshot::Sender<usize>>) -> Self {
        Self {
            target,
            gentle_until: until,
            group_told: false,
            #[cfg(target_os = "linux")]
            told: Vec::new(),
            reply,
        }
    }

    /// Gives up: nobody is told that the errand is done.
    pub(super) fn unanswered(self) -> Self {
        Self { reply: None, ..self }
    }

    /// Takes all errands one step further, and removes those that are done. Leaders that do not even
    /// die when they are killed are put aside.
    pub(super) fn round(errands: &mut Vec<Self>, undead: &mut Vec<Family>) {
        if errands.is_empty() {
            return;
        }
        #[cfg(target_os = "linux")]
        let entries = table::read(&wanted(errands));
        for mut errand in std::mem::take(errands) {
            let now = Instant::now();
            errand.hurry_if_nobody_waits(now);
            #[cfg(target_os = "linux")]
            let done = match &entries {
                Some(entries) => errand.step(entries, now),
                None => errand.step_blindly(now),
            };
            #[cfg(not(target_os = "linux"))]
            let done = errand.step_blindly(now);
            if done || now > errand.gentle_until + KILL_LIMIT {
                errand.finish(undead);
            } else {
                errands.push(errand);
            }
        }
    }

    /// A family whose end nobody waits for is killed: its owner may exit at any time.
    fn hurry_if_nobody_waits(&mut self, now: Instant) {
        let waits = self.reply.as_ref().is_some_and(|reply| !reply.is_closed());
        if !waits && matches!(self.target, Target::Family { .. }) {
            self.gentle_until = self.gentle_until.min(now);
        }
    }

    /// Signals everything that was found. Returns whether there was nothing.
    #[cfg(target_os = "linux")]
    fn step(&mut self, entries: &[Entry], now: Instant) -> bool {
        let gentle = now < self.gentle_until;
        let mut nothing = true;
        for entry in entries.iter().filter(|entry| self.target.includes(entry)) {
            nothing = false;
            let is_new = !self.told.contains(&entry.id);
            if is_new {
                self.told.push(entry.id);
            }
            let asked = self.group_told && self.target.is_group_of(entry);
            match (gentle, is_new && !asked) {
                (true, true) => {
                    entry.signal(Signal::TERM);
                    entry.signal(Signal::CONT);
                }
                (true, false) => {}
                (false, _) => entry.signal(Signal::KILL),
            }
        }
        let Target::Family { family, .. } = &mut self.target else { return nothing };
        if nothing {
            // Its number stays ours up to here.
            return family.collect();
        }
        if !gentle {
            // Unlike the signals one by one, this also reaches what is being started just now.
            family.signal(Signal::KILL);
        }
        false
    }

    /// Ends a group that cannot be looked into. Returns whether it is empty.
    fn step_blindly(&mut self, now: Instant) -> bool {
        let gentle = now < self.gentle_until;
        let Target::Family { family, .. } = &mut self.target else { return true };
        if !family.collect() {
            if !gentle {
                family.signal(Signal::KILL);
            }
            return false;
        }
        // The leader is collected now, so only the others keep the group's number. It cannot have
        // been given away in the moment between two rounds: numbers are reused last.
        if test_kill_process_group(family.pid).is_err() {
            return true;
        }
        let signal = if gentle { Signal::TERM } else { Signal::KILL };
        if !gentle || !self.group_told {
            self.group_told = true;
            let _ = kill_process_group(family.pid, signal);
        }
        false
    }

    fn finish(self, undead: &mut Vec<Family>) {
        #[cfg(target_os = "linux")]
        let found = self.told.len();
        #[cfg(not(target_os = "linux"))]
        let found = 0;
        if let Target::Family { mut family, .. } = self.target
            && !family.collect()
        {
            let process = family.number();
            tracing::warn!(process, "a killed process does not exit");
            undead.push(family);
        }
        if let Some(reply) = self.reply {
            // Nobody may be waiting any more.
            let _ = reply.send(found);
        }
    }
}

#[cfg(target_os = "linux")]
impl Target {
    fn includes(&self, entry: &Entry) -> bool {
        match self {
            Self::Family { family, .. } => {
                self.is_group_of(entry) || entry.marker == Some(family.marker)
            }
            Self::Orphans => entry.is_orphan(),
        }
    }

    fn is_group_of(&self, entry: &Entry) -> bool {
        match self {
            Self::Family { family, .. } => entry.group == family.number(),
            Self::Orphans => false,
        }
    }
}

/// Returns what all errands together are after.
#[cfg(target_os = "linux")]
fn wanted(errands: &[Errand]) -> Wanted {
    let mut wanted = Wanted { groups: Vec::new(), since: u64::MAX };
    for errand in errands {
        match &errand.target {
            Target::Family { family, started } => {
                wanted.groups.push(family.number());
                wanted.since = wanted.since.min(*started);
            }
            Target::Orphans => wanted.since = 0,
        }
    }
    wanted
}
