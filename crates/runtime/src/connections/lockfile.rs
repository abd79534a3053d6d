//! A lockfile on disk exists while local servers may run. One that nobody holds means that a runtime
//! was killed; only then are leftover processes searched for.
//!
//! The operating system releases the lock when the owner dies, and a regular shutdown removes the
//! file. So a lockfile that can be locked is stale.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wharf_config::store::{open_regular, private_file};

/// The prefix of the names of lockfiles; other files in the folder are ignored.
const PREFIX: &str = "servers-";

/// How many stale lockfiles are taken at a time; the rest is left to later runs.
const MAX_STALE: usize = 64;

/// The lockfile of one runtime. The file stays if this is dropped without [`Lockfile::remove`].
pub(crate) struct Lockfile {
    folder: Option<PathBuf>,
    state: Mutex<LockfileState>,
}

enum LockfileState {
    NotCreated,
    Held(HeldLockfile),
    /// It could not be created; this is not tried again for every server.
    Failed,
    Removed,
}

/// A lockfile whose lock this process holds.
pub(super) struct HeldLockfile {
    path: PathBuf,
    /// Closing it releases the lock.
    _file: File,
}

impl Lockfile {
    /// Uses this folder; without a folder, no lockfile is created or found.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        // Leftover processes can be found on Linux only.
        let folder = folder.filter(|_| cfg!(target_os = "linux"));
        Self { folder, state: Mutex::new(LockfileState::NotCreated) }
    }

    /// Creates the lockfile, with the first process that is started. Later calls do nothing.
    pub(super) fn create(&self) {
        let mut state = self.state();
        let (LockfileState::NotCreated, Some(folder)) = (&*state, &self.folder) else { return };
        *state = match HeldLockfile::create(folder) {
            Ok(lockfile) => LockfileState::Held(lockfile),
            Err(error) => {
                tracing::debug!(%error, "could not create a lockfile");
                LockfileState::Failed
            }
        };
    }

    /// Removes the lockfile, after all servers have ended.
    pub(super) fn remove(&self) {
        if let LockfileState::Held(lockfile) =
            std::mem::replace(&mut *self.state(), LockfileState::Removed)
        {
            lockfile.remove();
        }
    }

    /// Locks and returns stale lockfiles; no other process gets them while they are held.
    pub(super) fn take_stale(&self) -> Vec<HeldLockfile> {
        let Some(Ok(entries)) = self.folder.as_ref().map(fs::read_dir) else { return Vec::new() };
        let is_lockfile = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(PREFIX))
        };
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_lockfile);
        paths.filter_map(HeldLockfile::take_if_stale).take(MAX_STALE).collect()
    }

    fn state(&self) -> MutexGuard<'_, LockfileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldLockfile {
    fn create(folder: &Path) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            tries += 1;
            let path = folder.join(format!("{PREFIX}{}", private_file::random_id()?));
            let file = private_file::open_new(&path)?;
            // Another process may have taken it as stale before it was locked.
            if file.try_lock().is_ok() && path.exists() {
                return Ok(Self { path, _file: file });
            }
            if tries == 3 {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
        }
    }

    /// Locks a lockfile whose owner has died.
    fn take_if_stale(path: PathBuf) -> Option<Self> {
        // On network file systems, an exclusive lock needs write access.
        let file = open_regular(&path, OpenOptions::new().write(true)).ok()?;
        file.try_lock().ok()?;
        Some(Self { path, _file: file })
    }

    /// Removes the file while it is still locked.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "could not remove a lockfile");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn count_files(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[test]
    fn the_lockfile_exists_from_the_first_server_until_shutdown() {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("a/run");
        let lockfile = Lockfile::new(Some(run.clone()));
        assert!(!run.exists());
        lockfile.create();
        lockfile.create();
        assert_eq!(count_files(&run), 1);
        lockfile.remove();
        lockfile.create();
        assert_eq!(count_files(&run), 0);
        Lockfile::new(None).create();
    }

    #[test]
    fn a_lockfile_is_stale_once_its_owner_is_gone() {
        let run = tempfile::tempdir().unwrap();
        let other = Lockfile::new(Some(run.path().to_owned()));
        other.create();
        File::create(run.path().join("write.lock")).unwrap();
        let lockfile = Lockfile::new(Some(run.path().to_owned()));
        lockfile.create();
        assert!(lockfile.take_stale().is_empty(), "both owners are alive");
        drop(other);
        let left = lockfile.take_stale();
        assert_eq!(left.len(), 1);
        assert!(lockfile.take_stale().is_empty(), "the first result holds the lock");
        drop(left);
        let left = lockfile.take_stale();
        assert_eq!(left.len(), 1, "a dropped lockfile can be taken again");
        left.into_iter().for_each(HeldLockfile::remove);
        assert!(lockfile.take_stale().is_empty());
        lockfile.remove();
        assert_eq!(count_files(run.path()), 1, "other files stay");
    }

    #[test]
    fn stale_lockfiles_are_found_among_many_held_ones() {
        let run = tempfile::tempdir().unwrap();
        let create = |_| {
            let lockfile = Lockfile::new(Some(run.path().to_owned()));
            lockfile.create();
            lockfile
        };
        let alive: Vec<Lockfile> = (0..3 * MAX_STALE).map(create).collect();
        let finds = |many: usize| {
            // A process that another test starts inherits open files for a moment.
            let deadline = Instant::now() + Duration::from_secs(5);
            while alive[0].take_stale().len() != many {
                assert!(Instant::now() < deadline, "{many} are left over");
                std::thread::yield_now();
            }
        };
        (0..5).map(create).for_each(drop);
        finds(5);
        (0..MAX_STALE).map(create).for_each(drop);
        // The rest is left to the next call.
        finds(MAX_STALE);
    }

    #[test]
    fn a_lockfile_that_cannot_be_created_has_no_other_effect() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lockfile = Lockfile::new(Some(file.path().join("run")));
        lockfile.create();
        lockfile.create();
        assert!(lockfile.take_stale().is_empty());
        lockfile.remove();
    }
}
