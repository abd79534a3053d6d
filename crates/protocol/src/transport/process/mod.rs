//! A server's process and everything it starts, as one tree that is ended as a whole.
//!
//! The rule: when a [`Process`] is gone, nothing of its tree is running, whichever way it went. A
//! tree is held together by its process group (a job object on Windows), and what leaves the group
//! is known by a marker in its environment. When the owner itself is killed, Linux ends the direct
//! children at once and [`sweep`] ends the rest on the next start.
//!
//! `process` is the life of one tree, `unix` and `windows` are what the systems offer for it.

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

/// Keeps the tasks of many connections, so that their owner can wait for all of them.
pub use tokio_util::task::TaskTracker;

pub use self::error::StartError;
pub use self::launch::ProcessLaunch;
pub use self::process::{GracePeriod, Process, ProcessExit, StopMethod};
pub use self::stderr::{LogSink, StderrTail};
pub use self::system::{
    Stdin, Stdout, adopt_orphans, end_orphans, kill_all, reserve_descriptors, sweep,
};
