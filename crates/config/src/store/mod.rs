//! Reads and writes people's files so that nothing is ever lost or left half written.
//!
//! Reading is bounded and never waits, whatever a path turns out to be. Writing replaces a file as
//! a whole; who reads, changes and writes holds the [`WriteLock`] all the while. What is written is
//! decided in [`crate::edit`]. Files of Wharf's own are in [`private_file`].

mod backup;
mod error;
mod lock;
mod open;
pub mod private_file;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use backup::back_up;
pub use error::{StoreError, StoreErrorKind};
pub use lock::WriteLock;
pub use open::open_regular;
pub(crate) use read::read_at_most;
pub use read::{MAX_FILE_BYTES, read};
pub use write::write;

/// How long a change waits for another one to be done.
pub const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
