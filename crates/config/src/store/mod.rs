//! Reading and atomic writing of config files, with a lock and backups.
//!
//! Reading is limited in size and never blocks, even if the path is a pipe or a device. An atomic
//! write replaces the whole file. A caller that reads, changes and writes a file must hold the
//! [`WriteLock`] from reading on. Module `edit` makes the changes. Wharf's own files are in
//! [`private_file`].

mod backup;
mod error;
mod lock;
mod open;
mod open_elsewhere;
#[cfg(windows)]
mod owner_only;
pub mod private_file;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use backup::back_up;
pub use error::{StoreError, StoreErrorKind};
pub use lock::{FileLock, WriteLock};
pub use open::open_regular;
pub(crate) use read::read_at_most;
pub use read::{MAX_FILE_BYTES, read};
pub use write::write;

/// How long a change waits for the lock.
pub const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
