//! The write lock of a folder, across threads and processes.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use wharf_config::store::{WriteLock, private_file};

/// How long a change waits for other processes.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The lock of a folder. The folder is created if it is missing.
///
/// The first change acquires the lock, and it is held until this is dropped, so that changes of
/// several files wait only once. After a timeout, later attempts fail at once.
#[derive(Debug)]
pub(crate) struct FolderLock<'a> {
    folder: Option<&'a Path>,
    wait: Duration,
    lock: OnceLock<Result<WriteLock, String>>,
}

impl<'a> FolderLock<'a> {
    /// Acquires nothing yet. `wait` is the timeout; without a folder the lock cannot be acquired.
    pub(crate) fn new(folder: Option<&'a Path>, wait: Duration) -> Self {
        Self { folder, wait, lock: OnceLock::new() }
    }

    /// Acquires the lock, unless it is held already.
    pub(super) fn take(&self) -> io::Result<()> {
        let folder = self.folder.ok_or(io::ErrorKind::InvalidFilename)?;
        let lock = self.lock.get_or_init(|| {
            let locked = private_file::restrict_folder(folder)
                .and_then(|()| WriteLock::acquire(folder, self.wait).map_err(io::Error::other));
            locked.map_err(|error| error.to_string())
        });
        lock.as_ref().map(drop).map_err(|error| io::Error::other(error.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_drop_and_is_waited_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let lock = |wait| FolderLock::new(Some(folder.path()), wait);
        let first = lock(LOCK_TIMEOUT);
        first.take().unwrap();
        first.take().unwrap();
        let wait = Duration::from_millis(50);
        let second = lock(wait);
        assert!(second.take().is_err());
        let began = std::time::Instant::now();
        drop(first);
        assert!(second.take().is_err());
        assert!(began.elapsed() < wait);
        lock(Duration::ZERO).take().unwrap();
        assert!(FolderLock::new(None, LOCK_TIMEOUT).take().is_err());
    }
}
