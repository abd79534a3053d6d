//! Keeps servers connected: one supervisor owns them, one task works on each, everybody else reads
//! the snapshot.
//!
//! ```text
//! supervisor   the owner: commands in, reports in, snapshots out
//! slot         what it knows of one server
//! connection   the task of one server: connect, attend, bring back
//! attempt      one try to connect: resolve, reach, list
//! backoff      when to try again, and when not to
//! pace         when to list again
//! hearing      keeps a server telling us about changes, and as much of its log as is wanted
//! levels       how much of their logs is wanted
//! inbox        what a server says on its own
//! presence     a mark on disk, for whoever comes after we were killed
//! snapshot     how everything stands
//! ```

mod attempt;
mod backoff;
mod connection;
mod hearing;
mod inbox;
mod levels;
mod pace;
mod presence;
mod shared;
mod slot;
mod snapshot;
mod supervisor;

pub use snapshot::{About, ServerView, Snapshot};
pub use supervisor::Applied;

pub(crate) use shared::{Rules, Shared, call_limit};
pub(crate) use snapshot::cut_problem;
pub(crate) use supervisor::{Channels, Command, Supervisor};
