//! The file lock (`write.lock`) under which all threads and processes of Wharf change files.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::{StoreError, StoreErrorKind};
use super::open::open_regular;
use super::private_file;

/// The interval between attempts to take the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Holds the lock until it is dropped; the system releases it when the process dies.
///
/// ```no_run
/// use std::{path::Path, time::Duration};
/// use wharf_config::store::{self, WriteLock};
///
/// let lock = WriteLock::acquire(Path::new("/home/me/.wharf/run"), Duration::from_secs(5))?;
/// // read, change, write
/// drop(lock);
/// # Ok::<(), store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct WriteLock {
    /// Closing the file unlocks it. Removing it would let two processes hold the lock.
    _file: File,
}

impl WriteLock {
    /// Waits for the lock in `run`, which is `<WHARF_HOME>/run` and is created if missing.
    ///
    /// Blocks the thread for at most `wait`. Fails with [`StoreErrorKind::Busy`] after that.
    pub fn acquire(run: &Path, wait: Duration) -> Result<Self, StoreError> {
        let path = run.join("write.lock");
        let unlockable = |source| StoreError::new(&path, StoreErrorKind::Unlockable(source));
        private_file::create_folder(run).map_err(unlockable)?;
        let mut options = private_file::options();
        options.create(true).truncate(false).write(true);
        let file = open_regular(&path, &mut options).map_err(unlockable)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(unlockable(source)),
                Err(TryLockError::WouldBlock) => {
                    let left = wait.saturating_sub(started.elapsed());
                    if left.is_zero() {
                        return Err(StoreError::new(&path, StoreErrorKind::Busy(wait)));
                    }
                    thread::sleep(RETRY_INTERVAL.min(left));
                }
            }
        }
    }
}
