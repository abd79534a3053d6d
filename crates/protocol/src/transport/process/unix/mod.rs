//! The tree on Unix: a process group, and a marker for what leaves it.
//!
//! The server's process is not collected before its tree is gone. As long as it is a zombie, its
//! number stays taken, so a signal to its group can never reach a stranger.
//!
//! `spawner` starts processes on threads that live as long as we do, from an `exec_spec` and by way
//! of `parent_death` (Linux) or of the standard library (`std_spawn`). `reaper` ends trees in the
//! background, `orphans` ends those who were given to us (Linux), `process_table` is the system's
//! list of processes (Linux).

mod cleanup;
#[cfg(target_os = "linux")]
mod exec_spec;
mod exit;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod parent_death;
mod pipes;
mod process_group;
#[cfg(target_os = "linux")]
pub(super) mod process_table;
mod reaper;
mod spawner;
#[cfg(not(target_os = "linux"))]
mod std_spawn;

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use self::exit::ExitWatch;
#[cfg(target_os = "linux")]
pub use self::orphans::{adopt_orphans, end_orphans};
pub(super) use self::pipes::{Stderr, read_stderr};
pub use self::pipes::{Stdin, Stdout, reserve_descriptors};
use self::process_group::{GroupGuard, SpawnedChild};
pub use self::reaper::sweep;
use super::error::StartError;
use super::launch::ProcessLaunch;
use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::marker::Owner;
use super::process::StopMethod;

/// A process in its own group. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct ProcessTree {
    guard: GroupGuard,
    exit: ExitWatch,
}

/// A started tree with its pipes.
pub(super) struct StartedProcess {
    pub(super) tree: ProcessTree,
    pub(super) stdin: Stdin,
    pub(super) stdout: Stdout,
    pub(super) stderr: Stderr,
}

/// How long a program that has to end at once waits for what it kills.
const KILL_ALL_LIMIT: Duration = Duration::from_millis(500);

/// Kills everything that this program's servers have started, and waits a moment for it.
///
/// For a program that has to end at once, from any thread: nothing else of this library has to work
/// for it. Whoever waits for one of the servers sees it exit.
pub fn kill_all() {
    let until = Instant::now() + KILL_ALL_LIMIT;
    let groups: Vec<i32> = process_group::leaders().iter().copied().collect();
    for pid in groups.into_iter().filter_map(Pid::from_raw) {
        // Not collected yet, so the numbers are still theirs.
        let _gone = kill_process_group(pid, Signal::KILL);
        let _gone = kill_process(pid, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    {
        while process_table::kill_marked(Owner::current()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        orphans::kill_orphans(until);
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
pub async fn end_orphans() -> usize {
    0
}

/// Starts a program in its own group. Dropping the future ends what it started.
pub(super) async fn start(
    launch: Arc<ProcessLaunch>,
    marker: Marker,
) -> Result<StartedProcess, StartError> {
    let spawned_launch = Arc::clone(&launch);
    let child = spawner::run(move || process_group::spawn(&spawned_launch, marker)).await;
    child.and_then(StartedProcess::new).map_err(|error| StartError::new(&launch, error))
}

impl StartedProcess {
    /// Makes the pipes and the exit known to the runtime.
    fn new(child: SpawnedChild) -> io::Result<Self> {
        let exit = ExitWatch::new(child.guard.pid())?;
        // They are pipes, and they do not block: `group` made them so.
        let stdin = Stdin::from_owned_fd_unchecked(child.pipes.stdin)?;
        let stdout = Stdout::from_owned_fd_unchecked(child.pipes.stdout)?;
        let stderr = Stderr::from_owned_fd_unchecked(child.pipes.stderr)?;
        Ok(Self { tree: ProcessTree { guard: child.guard, exit }, stdin, stdout, stderr })
    }
}

impl ProcessTree {
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
    pub(super) async fn clean_up(self, by: StopMethod, until: Instant) -> Option<ExitStatus> {
        let status = self.exit.status();
        if let Some(group) = self.guard.release() {
            reaper::clean_up(group, by, until).await;
        }
        status
    }
}
