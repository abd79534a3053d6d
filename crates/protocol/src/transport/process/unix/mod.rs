//! The tree on Unix: a process group, and a marker for what leaves it.
//!
//! The server's process is not collected before its tree is gone. As long as it is a zombie, its
//! number stays taken, so a signal to its group can never reach a stranger.
//!
//! `spawner` starts processes on threads that live as long as we do, from an `order` and by way of
//! `parent_death` (Linux) or of the standard library (`plain`). `reaper` ends trees in the
//! background, `table` is the system's list of processes (Linux).

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
use std::time::Instant;

use rustix::process::Signal;

use self::exit::ExitWatch;
use self::family::{Born, Guard};
pub(super) use self::pipes::{Stderr, pump};
pub use self::pipes::{Stdin, Stdout, make_room};
pub use self::reaper::sweep;
use super::error::StartError;
use super::launch::Launch;
use super::marker::Marker;
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
