//! The process tree on Unix: a process group, and a marker for processes that leave the group.
//!
//! The server's process is reaped (`waitpid`) only after its tree has ended. While it is a zombie,
//! its pid is not reused, so a signal to its group cannot reach an unrelated process.
//!
//! `spawner` starts processes on threads that never end: on Linux from an `exec_spec`
//! with `parent_death`, elsewhere with the standard library (`std_spawn`). `reaper`
//! ends process trees in the background. On Linux, `orphans` ends reparented
//! orphans, and `process_table` reads `/proc`.

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
pub use self::reaper::end_leftover_processes;
use super::error::StartError;
use super::launch::ProcessLaunch;
use super::marker::Marker;
#[cfg(target_os = "linux")]
use super::marker::Owner;
use super::process::StopMethod;

/// A process in a new process group. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct ProcessTree {
    guard: GroupGuard,
    exit: ExitWatch,
}

/// A started process tree with its pipes.
pub(super) struct StartedProcess {
    pub(super) tree: ProcessTree,
    pub(super) stdin: Stdin,
    pub(super) stdout: Stdout,
    pub(super) stderr: Stderr,
}

/// How long [`kill_all`] waits for killed processes.
const KILL_ALL_LIMIT: Duration = Duration::from_millis(500);

/// Kills all servers of this program with everything they started, and waits for at most 500 ms.
///
/// For a program that has to exit at once. Can be called from any thread and needs no other task or
/// thread of this library. Tasks that wait for a server see it exit.
pub fn kill_all() {
    let until = Instant::now() + KILL_ALL_LIMIT;
    let groups: Vec<i32> = process_group::leaders().iter().copied().collect();
    for pid in groups.into_iter().filter_map(Pid::from_raw) {
        // They are not reaped yet, so their pids are not reused.
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

/// Does nothing: only Linux has child subreapers.
#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> bool {
    false
}

/// Does nothing: see [`adopt_orphans`]. Returns how many processes were ended.
#[cfg(not(target_os = "linux"))]
pub async fn end_orphans() -> usize {
    0
}

/// Starts a program in a new process group. Dropping the future ends the process.
pub(super) async fn start(
    launch: Arc<ProcessLaunch>,
    marker: Marker,
) -> Result<StartedProcess, StartError> {
    let spawned_launch = Arc::clone(&launch);
    let spawning = spawner::run(move || process_group::spawn(&spawned_launch, marker));
    // The reaper starts while another thread starts the process.
    let (child, ()) = tokio::join!(spawning, async { reaper::prepare() });
    child.and_then(StartedProcess::new).map_err(|error| StartError::new(&launch, error))
}

impl StartedProcess {
    /// Registers the pipes and the exit with the runtime.
    fn new(child: SpawnedChild) -> io::Result<Self> {
        let exit = ExitWatch::new(child.guard.pid())?;
        // `pipes` has made them non-blocking.
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
        // A stopped process handles SIGTERM only after SIGCONT.
        self.guard.signal(Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        self.guard.signal(Signal::KILL);
    }

    /// Ends all remaining processes of the tree and reaps the server's process. Processes that have
    /// not got SIGTERM yet have until `until` to exit.
    pub(super) async fn clean_up(self, by: StopMethod, until: Instant) -> Option<ExitStatus> {
        let status = self.exit.status();
        if let Some(group) = self.guard.release() {
            reaper::clean_up(group, by, until).await;
        }
        status
    }
}
