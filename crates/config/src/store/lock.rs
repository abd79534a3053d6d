//! File locks between all threads and processes of Wharf: `write.lock`, under which files are
//! changed, and locks of other names.

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
    _lock: FileLock,
}

impl WriteLock {
    /// Waits for the lock in `run`, which is `<WHARF_HOME>/run` and is created if missing.
    ///
    /// Blocks the thread for at most `wait`. Fails with [`StoreErrorKind::Busy`] after that.
    pub fn acquire(run: &Path, wait: Duration) -> Result<Self, StoreError> {
        Ok(Self { _lock: FileLock::acquire(&run.join("write.lock"), wait)? })
    }
}

/// Holds the lock of one file until it is dropped; the system releases it when the process dies.
#[derive(Debug)]
pub struct FileLock {
    /// Closing the file unlocks it. Removing it would let two processes hold the lock.
    _file: File,
}

impl FileLock {
    /// Takes the lock if nobody holds it. Creates the file and its folder; the file stays, because
    /// removing it would let two processes hold the lock.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        Ok(try_lock(&file, path)?.then_some(Self { _file: file }))
    }

    /// Waits for the lock. Blocks the thread for at most `wait`, and fails with
    /// [`StoreErrorKind::Busy`] after that.
    pub fn acquire(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        let file = open(path)?;
        let started = Instant::now();
        while !try_lock(&file, path)? {
            let left = wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(StoreError::new(path, StoreErrorKind::Busy(wait)));
            }
            thread::sleep(RETRY_INTERVAL.min(left));
        }
        Ok(Self { _file: file })
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let unlockable = |source| StoreError::new(path, StoreErrorKind::Unlockable(source));
    private_file::create_folder(&private_file::folder_of(path)).map_err(unlockable)?;
    let mut options = private_file::options();
    options.create(true).truncate(false).write(true);
    open_regular(path, &mut options).map_err(unlockable)
}

fn try_lock(file: &File, path: &Path) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => {
            Err(StoreError::new(path, StoreErrorKind::Unlockable(source)))
        }
    }
}
