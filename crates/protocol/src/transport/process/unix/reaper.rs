//! A thread that ends trees to the last process, and collects their leaders.
//!
//! Work comes as errands: a family that is to be cleared, or all orphans. Each round reads the list
//! of processes once, for all errands together, so that a hundred servers that close at once cost
//! few readings. An errand is done when a round finds nothing that it is after. The thread begins with
//! the first errand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::oneshot;

use super::super::process::EndedBy;
use super::errand::Errand;
use super::family::Family;

/// How long orphans may take to terminate before they are killed.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);

/// The pause between two rounds grows from the first to the last of these.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));

/// How often a process is looked at that does not even die when it is killed.
const UNDEAD_PAUSE: Duration = Duration::from_secs(1);

static REAPER: Reaper = Reaper {
    inbox: Mutex::new(Inbox { errands: Vec::new(), runs: false }),
    arrived: Condvar::new(),
};

struct Reaper {
    inbox: Mutex<Inbox>,
    arrived: Condvar,
}

struct Inbox {
    errands: Vec<Errand>,
    runs: bool,
}

/// Ends what is left of a family whose group was killed. Returns at once.
pub(super) fn bury(family: Family) {
    REAPER.submit(Errand::clear(family, EndedBy::Kill, Instant::now(), None));
}

/// Ends what is left of a family, and waits for it. What has not been asked to terminate yet has
/// until `until` to do so. If the future is dropped, it is killed at once.
pub(super) async fn clear(family: Family, by: EndedBy, until: Instant) {
    let (reply, done) = oneshot::channel();
    REAPER.submit(Errand::clear(family, by, until, Some(reply)));
    // Without an answer there is no thread; then the family waits for the next errand.
    drop(done.await);
}

/// Ends everything that servers of killed owners have left running, and waits for it. Returns how
/// many processes there were.
///
/// Only processes of the same person are ended, only if they carry the marker of an owner that does
/// not exist any more, and never this process or one that has started it. To be called once when a
/// program starts. On systems other than Linux it does nothing: other processes' environments
/// cannot be read there. If the future is dropped, the work goes on.
pub async fn sweep() -> usize {
    if !cfg!(target_os = "linux") {
        return 0;
    }
    let (reply, done) = oneshot::channel();
    REAPER.submit(Errand::sweep(Instant::now() + ORPHAN_GRACE, reply));
    done.await.unwrap_or(0)
}

impl Reaper {
    fn submit(&'static self, mut errand: Errand) {
        let mut inbox = self.lock();
        if !inbox.runs {
            let started = self.start();
            inbox.runs = started.is_ok();
            if let Err(error) = started {
                tracing::warn!(%error, "no thread to end processes; they end with the next ones");
                errand = errand.unanswered();
            }
        }
        inbox.errands.push(errand);
        drop(inbox);
        self.arrived.notify_one();
    }

    fn start(&'static self) -> io::Result<()> {
        let thread = thread::Builder::new().name("wharf-reaper".into()).stack_size(256 * 1024);
        let work = || loop {
            // If a round panics, its errands are lost and answered by that, but others come.
            drop(catch_unwind(AssertUnwindSafe(|| self.work())));
        };
        thread.spawn(work).map(drop)
    }

    fn work(&self) {
        let mut errands = Vec::new();
        let mut undead = Vec::new();
        let mut pause = PAUSES.0;
        loop {
            let limit = match (errands.is_empty(), undead.is_empty()) {
                (false, _) => Some(pause),
                (true, false) => Some(UNDEAD_PAUSE),
                (true, true) => None,
            };
            let new = self.collect(limit);
            pause = if new.is_empty() { PAUSES.1.min(pause * 2) } else { PAUSES.0 };
            errands.extend(new);
            Errand::round(&mut errands, &mut undead);
            undead.retain_mut(|family: &mut Family| !family.collect());
        }
    }

    /// Returns new errands, as soon as there are any or the time is over.
    fn collect(&self, limit: Option<Duration>) -> Vec<Errand> {
        let mut inbox = self.lock();
        match limit {
            Some(limit) if inbox.errands.is_empty() => {
                let waited = self.arrived.wait_timeout(inbox, limit);
                inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            Some(_) => {}
            None => {
                let waited = self.arrived.wait_while(inbox, |inbox| inbox.errands.is_empty());
                inbox = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        std::mem::take(&mut inbox.errands)
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
