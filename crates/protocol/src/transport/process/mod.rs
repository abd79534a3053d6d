//! A server's process and everything that it starts: one process tree, which ends as a whole.
//!
//! The rule: when a [`Process`] has ended or was dropped, no process of its tree is running. A tree
//! is a process group (a job object on Windows); processes that leave the group are found by a
//! marker in their environment. When the owner itself is killed, Linux kills the direct children at
//! once and [`end_leftover_processes`] ends the rest on the next start.
//!
//! `process` starts and ends one tree; `unix` and `windows` are the parts that depend on the
//! system.

mod error;
mod launch;
mod marker;
#[expect(clippy::module_inception, reason = "the folder is the tree, the file is its handle")]
mod process;
mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

/// Tracks the tasks of many connections, so that their owner can wait for all of them.
pub use tokio_util::task::TaskTracker;

pub use self::error::StartError;
pub use self::launch::ProcessLaunch;
pub use self::process::{GracePeriod, Process, ProcessExit, StopMethod};
pub use self::stderr::{LogSink, StderrTail};
pub use self::system::{
    Stdin, Stdout, adopt_orphans, end_leftover_processes, end_orphans, kill_all,
    reserve_descriptors,
};
