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
mod debounce;
mod lockfile;
mod log_levels;
mod server_messages;
mod shared;
mod slot;
mod snapshot;
mod subscriptions;
mod supervisor;

pub use snapshot::{ConnectionInfo, ServerSnapshot, Snapshot};
pub use supervisor::CatalogChanges;

pub(crate) use shared::{RuntimeSettings, Shared, call_idle_timeout};
pub(crate) use snapshot::cut_problem;
pub(crate) use supervisor::{Supervisor, SupervisorChannels, SupervisorCommand};
