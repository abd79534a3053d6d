//! The thread of the process cleanup: it ends process trees completely and reaps their group
//! leaders.
//!
//! It works on cleanups (`CleanupTask`): one process group, or the leftovers of killed owners. Each
//! round reads the process table once for all cleanups, so that a hundred servers that close at
//! once cost few reads. A cleanup is done when a round finds none of its processes. The thread
//! starts with the first process, or with the first cleanup.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::oneshot;

use super::super::process::StopMethod;
use super::cleanup::CleanupTask;
use super::process_group::ProcessGroup;

/// How long leftover processes may take to terminate before they are killed.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// The shortest pause between two rounds; it doubles after each round.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two rounds.
const LONGEST_PAUSE: Duration = Duration::from_millis(32);

/// The pause between two checks of a process that does not exit after SIGKILL.
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

/// Starts the thread early, while nobody waits for it.
pub(super) fn prepare() {
    // If this fails, the first cleanup tries again.
    let _best_effort = REAPER.start_once(&mut REAPER.lock());
}

/// Ends the rest of a process tree whose group was killed. Returns at once.
pub(super) fn clean_up_in_background(group: ProcessGroup) {
    REAPER.submit(CleanupTask::for_group(group, StopMethod::Kill, Instant::now(), None));
}

/// Ends the rest of a process tree and waits for it. Processes that have not got SIGTERM yet have
/// until `until` to exit. If the future is dropped, they are killed at once.
pub(super) async fn clean_up(group: ProcessGroup, by: StopMethod, until: Instant) {
    let (reply, done) = oneshot::channel();
    REAPER.submit(CleanupTask::for_group(group, by, until, Some(reply)));
    // The channel closes if the thread could not start; then the next cleanup tries again.
    drop(done.await);
}

/// Ends all processes that servers of killed owners have left running, and waits for them. Returns
/// how many processes there were.
///
/// A process is ended only if it belongs to the same user and has the marker of an owner that does
/// not run any more; never this process or one of its ancestors. Call it once when a program
/// starts. On systems other than Linux it does nothing, because environments of other processes
/// cannot be read there. If the future is dropped, the cleanup continues.
pub async fn end_leftover_processes() -> usize {
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
        if let Err(error) = self.start_once(&mut queue) {
            tracing::warn!(%error, "could not start the reaper thread; the next cleanup tries again");
            task = task.without_reply();
        }
        queue.tasks.push(task);
        drop(queue);
        self.arrived.notify_one();
    }

    fn start_once(&'static self, queue: &mut ReaperQueue) -> io::Result<()> {
        if queue.is_running {
            return Ok(());
        }
        let thread = thread::Builder::new().name("wharf-reaper".into()).stack_size(256 * 1024);
        let work = || loop {
            // If a round panics, its cleanups are dropped, which closes their reply channels.
            drop(catch_unwind(AssertUnwindSafe(|| self.work())));
        };
        thread.spawn(work)?;
        queue.is_running = true;
        Ok(())
    }

    fn work(&self) {
        let mut tasks = Vec::new();
        let mut unkillable = Vec::new();
        let mut pause = SHORTEST_PAUSE;
        loop {
            let limit = match (tasks.is_empty(), unkillable.is_empty()) {
                (false, _) => Some(pause),
                (true, false) => Some(UNKILLABLE_PAUSE),
                (true, true) => None,
            };
            let new = self.take_tasks(limit);
            pause = if new.is_empty() { LONGEST_PAUSE.min(pause * 2) } else { SHORTEST_PAUSE };
            tasks.extend(new);
            CleanupTask::run_round(&mut tasks, &mut unkillable);
            unkillable.retain_mut(|group: &mut ProcessGroup| !group.reap());
        }
    }

    /// Waits for new cleanups, at most for `limit`, and returns them.
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
