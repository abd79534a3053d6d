//! The tree on Unix: a process group, and a marker for what leaves it.
//!
//! The server's process is not collected before its tree is gone. As long as it is a zombie, its
//! number stays taken, so a signal to its group can never reach a stranger.
//!
//! `spawner` starts processes on threads that live as long as we do, from an `order` and by way of
//! `parent_death` (Linux) or of the standard library (`plain`). `reaper` ends trees in the
//! background, `adopted` ends those who were given to us (Linux), `table` is the system's list of
//! processes (Linux).

#[cfg(target_os = "linux")]
mod adopted;
mod errand;
mod exit;
mod family;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod parent_death;
mod pipes;
#[cfg(not(target_os = "linux"))]
mod plain;
mod reaper;
mod spawner;
#[cfg(target_os = "linux")]
pub(super) mod table;

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

#[cfg(target_os = "linux")]
pub use self::adopted::{adopt_orphans, end_adopted};
use self::exit::ExitWatch;
use self::family::{Born, Guard};
pub(super) use self::pipes::{Stderr, pump};
pub use self::pipes::{Stdin, Stdout, reserve_descriptors};
pub use self::reaper::sweep;
use super::error::StartError;
use super::launch::Launch;
use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::marker::Owner;
use super::process::EndedBy;

/// A process in its own group. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Tree {
    guard: Guard,
    exit: ExitWatch,
}

/// A started tree with its pipes.
pub(super) struct Started {
    pub(super) tree: Tree,
    pub(super) stdin: Stdin,
    pub(super) stdout: Stdout,
    pub(super) stderr: Stderr,
}

/// How long a program that has to end at once waits for what it kills.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Kills everything that this program's servers have started, and waits a moment for it.
///
/// For a program that has to end at once, from any thread: nothing else of this library has to work
/// for it. Whoever waits for one of the servers sees it exit.
pub fn kill_all() {
    let until = Instant::now() + LAST_MOMENT;
    let groups: Vec<i32> = family::leaders().iter().copied().collect();
    for pid in groups.into_iter().filter_map(Pid::from_raw) {
        // Not collected yet, so the numbers are still theirs.
        let _gone = kill_process_group(pid, Signal::KILL);
        let _gone = kill_process(pid, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    {
        while table::kill_marked(Owner::current()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        adopted::kill_adopted(until);
    }
    #[cfg(not(target_os = "linux"))]
    let _nothing_to_wait_for = until;
}

/// Does nothing: only Linux can give a process the orphans among its descendants.
#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> bool {
    false
}

/// Does nothing: see [`adopt_orphans`]. Returns how many processes it ended.
#[cfg(not(target_os = "linux"))]
pub async fn end_adopted() -> usize {
    0
}

/// Starts a program in its own group. Dropping the future ends what it started.
pub(super) async fn start(launch: Arc<Launch>, marker: Marker) -> Result<Started, StartError> {
    let order = Arc::clone(&launch);
    let born = spawner::run(move || family::spawn(&order, marker)).await;
    born.and_then(Started::new).map_err(|error| StartError::new(&launch, error))
}

impl Started {
    /// Makes the pipes and the exit known to the runtime.
    fn new(born: Born) -> io::Result<Self> {
        let exit = ExitWatch::new(born.guard.pid())?;
        // They are pipes, and they do not block: `family` made them so.
        let stdin = Stdin::from_owned_fd_unchecked(born.pipes.stdin)?;
        let stdout = Stdout::from_owned_fd_unchecked(born.pipes.stdout)?;
        let stderr = Stderr::from_owned_fd_unchecked(born.pipes.stderr)?;
        Ok(Self { tree: Tree { guard: born.guard, exit }, stdin, stdout, stderr })
    }
}

impl Tree {
    pub(super) fn id(&self) -> u32 {
        self.guard.pid().as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) async fn exited(&mut self) -> Option<ExitStatus> {
        self.exit.exited().await;
        self.exit.status()
    }

    pub(super) fn terminate(&mut self) {
        self.guard.signal(Signal::TERM);
        // A stopped process gets the first signal only once it continues.
        self.guard.signal(Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        self.guard.signal(Signal::KILL);
    }

    /// Ends whatever is left of the tree and collects the server's process. What has not been
    /// asked to terminate yet has until `until` to do so.
    pub(super) async fn clear(self, by: EndedBy, until: Instant) -> Option<ExitStatus> {
        let status = self.exit.status();
        if let Some(family) = self.guard.release() {
            reaper::clear(family, by, until).await;
        }
        status
    }
}
