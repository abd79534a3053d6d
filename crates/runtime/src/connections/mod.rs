//! Keeps servers connected: a supervisor task owns them, one task per server connects it, and all
//! other code reads the snapshot.
//!
//! ```text
//! supervisor       the owner of all servers: receives commands and reports, publishes snapshots
//! slot             the state of one server in the supervisor
//! connection       the task of one server: connect, keep connected, reconnect
//! attempt          one attempt to connect: resolve, start or reach, list the tools
//! backoff          when to reconnect, and when to give up
//! debounce         when to request a changed list again
//! subscriptions    subscriptions to changes, and the log level, for the whole connection
//! log_levels       the log levels that the host has set
//! resource_subscriptions  the resources that the host has subscribed to
//! server_messages  handles notifications and requests from a server
//! lockfile         a lockfile, by which the next runtime finds processes of a killed one
//! current_registry the registry of the next snapshot
//! snapshot         the published state of all servers
//! ```

mod attempt;
mod backoff;
mod connection;
mod current_registry;
mod debounce;
mod lockfile;
mod log_levels;
mod resource_subscriptions;
mod server_json;
mod server_messages;
mod shared;
mod slot;
mod snapshot;
mod subscriptions;
mod supervisor;

pub use snapshot::{ConnectionInfo, ServerSnapshot, Snapshot};
pub use supervisor::CatalogChanges;

pub(crate) use shared::{RuntimeSettings, Shared, call_idle_timeout, name_owners};
pub(crate) use snapshot::cut_problem;
pub(crate) use supervisor::{Supervisor, SupervisorChannels, SupervisorCommand};
