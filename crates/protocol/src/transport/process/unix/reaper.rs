//! A thread that ends trees to the last process, and collects their leaders.
//!
//! Work comes as errands: a family that is to be cleared, or all orphans. Each round reads the list
//! of processes once, for all errands together, so that a hundred servers that close at once cost
//! few readings. An errand is done when a round finds nothing that it is after. The thread begins
//! with the first errand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::oneshot;

use super::super::process::StopMethod;
use super::cleanup::CleanupTask;
use super::process_group::ProcessGroup;

/// How long orphans may take to terminate before they are killed.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// The pause between two rounds grows from the first to the last of these.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));

/// How often a process is looked at that does not even die when it is killed.
const UNKILLABLE_PAUSE: Duration = Duration::from_secs(1);

static REAPER: Reaper = Reaper {
    queue: Mutex::new(ReaperQueue { tasks: Vec::new(), is_running: false }),
    arrived: Condvar::new(),
};

struct Reaper {
    queue: Mutex<ReaperQueue>,
    arrived: Condvar,
}

struct ReaperQueue {
    tasks: Vec<CleanupTask>,
    is_running: bool,
}

/// Ends what is left of a family whose group was killed. Returns at once.
pub(super) fn clean_up_in_background(group: ProcessGroup) {
    REAPER.submit(CleanupTask::for_group(group, StopMethod::Kill, Instant::now(), None));
}

/// Ends what is left of a family, and waits for it. What has not been asked to terminate yet has
/// until `until` to do so. If the future is dropped, it is killed at once.
pub(super) async fn clean_up(group: ProcessGroup, by: StopMethod, until: Instant) {
    let (reply, done) = oneshot::channel();
    REAPER.submit(CleanupTask::for_group(group, by, until, Some(reply)));
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
    REAPER.submit(CleanupTask::for_leftovers(Instant::now() + LEFTOVER_GRACE, reply));
    done.await.unwrap_or(0)
}

impl Reaper {
    fn submit(&'static self, mut task: CleanupTask) {
        let mut queue = self.lock();
        if !queue.is_running {
            let started = self.start();
            queue.is_running = started.is_ok();
            if let Err(error) = started {
                tracing::warn!(%error, "no thread to end processes; they end with the next ones");
                task = task.without_reply();
            }
        }
        queue.tasks.push(task);
        drop(queue);
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
        let mut tasks = Vec::new();
        let mut unkillable = Vec::new();
        let mut pause = PAUSES.0;
        loop {
            let limit = match (tasks.is_empty(), unkillable.is_empty()) {
                (false, _) => Some(pause),
                (true, false) => Some(UNKILLABLE_PAUSE),
                (true, true) => None,
            };
            let new = self.take_tasks(limit);
            pause = if new.is_empty() { PAUSES.1.min(pause * 2) } else { PAUSES.0 };
            tasks.extend(new);
            CleanupTask::run_round(&mut tasks, &mut unkillable);
            unkillable.retain_mut(|group: &mut ProcessGroup| !group.reap());
        }
    }

    /// Returns new errands, as soon as there are any or the time is over.
    fn take_tasks(&self, limit: Option<Duration>) -> Vec<CleanupTask> {
        let mut queue = self.lock();
        match limit {
            Some(limit) if queue.tasks.is_empty() => {
                let waited = self.arrived.wait_timeout(queue, limit);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            Some(_) => {}
            None => {
                let waited = self.arrived.wait_while(queue, |queue| queue.tasks.is_empty());
                queue = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        std::mem::take(&mut queue.tasks)
    }

    fn lock(&self) -> MutexGuard<'_, ReaperQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
