//! Files that only spare work: for their owner alone, replaced as a whole, not forced to the disk.
//!
//! A crash of the machine may lose or empty such a file, and its reader then goes on without it. What
//! must not be lost goes through [`wharf_config::store`].

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use wharf_config::store::Lock;
use wharf_config::store::private_file::random_id;

/// How the files end that are being written; a crash may leave one behind.
const TEMPORARY: &str = ".wharf-tmp";

/// How long a change waits for those of other processes.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(2);

/// How old such a file must be before it counts as left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// One's turn to change the files of a folder, which is made if it is missing.
///
/// It is taken with the first change and lasts as long as this, so that several files need one wait.
/// Who did not get it in time is not let wait again.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    folder: Option<&'a Path>,
    wait: Duration,
    lock: OnceLock<Result<Lock, String>>,
}

impl<'a> Turn<'a> {
    /// Waits for other processes for so long, once it is needed. Without a folder it never comes.
    pub(crate) fn new(folder: Option<&'a Path>, wait: Duration) -> Self {
        Self { folder, wait, lock: OnceLock::new() }
    }

    /// Waits until no other process changes the files.
    pub(super) fn take(&self) -> io::Result<()> {
        let folder = self.folder.ok_or(io::ErrorKind::InvalidFilename)?;
        let lock = self.lock.get_or_init(|| {
            let locked = private_folder(folder)
                .and_then(|()| Lock::acquire(folder, self.wait).map_err(io::Error::other));
            locked.map_err(|error| error.to_string())
        });
        lock.as_ref().map(drop).map_err(|error| io::Error::other(error.clone()))
    }
}

/// Replaces a file; the folder is made if it is missing.
pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// Replaces a file by what is written into another; the folder is made if it is missing.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = write_beside(path, write)?;
    rename(&temporary, path)
}

/// Replaces a file as quickly as that can be done: for a moment there is none.
///
/// Some file systems force a file to the disk that is renamed over another, which takes many times as
/// long as all the rest. Only for what a reader may miss once.
pub(super) fn put_quickly(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_beside(path, |file| file.write_all(bytes))?;
    // If it cannot be removed, renaming says why, or succeeds all the same.
    drop(fs::remove_file(path));
    rename(&temporary, path)
}

/// Makes a file unless there is one: of several who try at a time one succeeds.
pub(super) fn put_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_beside(path, |file| file.write_all(bytes))?;
    let result = fs::hard_link(&temporary, path);
    drop(fs::remove_file(&temporary));
    result
}

/// Removes files from a folder that somebody seems to have left half written.
pub(super) fn forget_left_behind(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with('.') || !name.ends_with(TEMPORARY) {
            continue;
        }
        let modified = entry.metadata().and_then(|about| about.modified());
        if modified.is_ok_and(|time| time.elapsed().unwrap_or_default() > LEFT_BEHIND) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Makes a folder for its owner alone, or makes it so.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

        builder.mode(0o700).create(folder)?;
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    builder.create(folder)
}

fn rename(temporary: &Path, path: &Path) -> io::Result<()> {
    let result = fs::rename(temporary, path);
    if result.is_err() {
        drop(fs::remove_file(temporary));
    }
    result
}

fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let name = format!(".{}.{}{TEMPORARY}", name.to_string_lossy(), random_id()?);
    let temporary = folder.join(name);
    let mut options = private_file();
    options.create_new(true);
    let file = match options.open(&temporary) {
        // The folder is nearly always there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_folder(folder)?;
            options.open(&temporary)
        }
        file => file,
    };
    let written = write(&mut file?);
    if let Err(error) = written {
        drop(fs::remove_file(&temporary));
        return Err(error);
    }
    Ok(temporary)
}

/// How a file is opened that only its owner may read.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        put(&path, b"one").unwrap();
        put(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        put_quickly(&path, b"two and a half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two and a half");
        assert!(put_new(&path, b"three").is_err());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_turn_lasts_and_is_waited_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let turn = |wait| Turn::new(Some(folder.path()), wait);
        let first = turn(LOCK_WAIT);
        first.take().unwrap();
        first.take().unwrap();
        let wait = Duration::from_millis(50);
        let second = turn(wait);
        assert!(second.take().is_err());
        let began = std::time::Instant::now();
        drop(first);
        assert!(second.take().is_err());
        assert!(began.elapsed() < wait);
        turn(Duration::ZERO).take().unwrap();
        assert!(Turn::new(None, LOCK_WAIT).take().is_err());
    }

    #[test]
    fn only_what_was_left_half_written_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [".old.wharf-tmp", ".new.wharf-tmp", "old"].map(|it| folder.path().join(it));
        for path in &paths {
            put(path, b"").unwrap();
        }
        for path in [&paths[0], &paths[2]] {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(std::time::SystemTime::now() - LEFT_BEHIND * 2).unwrap();
        }
        forget_left_behind(folder.path());
        assert_eq!(paths.map(|path| path.exists()), [false, true, true]);
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("cache");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        private_folder(&inner).unwrap();
        put(&inner.join("file"), b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&inner.join("file"))), (0o700, 0o600));
    }
}
