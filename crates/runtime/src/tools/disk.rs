//! Files that only spare work: for their owner alone, replaced as a whole, not forced to the disk.
//!
//! A crash of the machine may lose or empty such a file, and its reader then goes on without it. What
//! must not be lost goes through [`wharf_config::store`].

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wharf_config::store::random_id;

/// How the files end that are being written; a crash may leave one behind.
pub(super) const TEMPORARY: &str = ".wharf-tmp";

/// Replaces a file; the folder is made if it is missing.
pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_beside(path, bytes)?;
    let result = fs::rename(&temporary, path);
    if result.is_err() {
        drop(fs::remove_file(&temporary));
    }
    result
}

/// Writes a file that is usually new, without the detour over another name. A reader may meet half of
/// it, so this is only for files that say themselves whether they are whole.
pub(super) fn put_fresh(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match private_file().create_new(true).open(path) {
        Ok(mut file) => file.write_all(bytes),
        Err(_) => put(path, bytes),
    }
}

/// Makes a file unless there is one: of several who try at a time one succeeds.
pub(super) fn put_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_beside(path, bytes)?;
    let result = fs::hard_link(&temporary, path);
    drop(fs::remove_file(&temporary));
    result
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

fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let name = format!(".{}.{}{TEMPORARY}", name.to_string_lossy(), random_id()?);
    let temporary = folder.join(name);
    let mut options = private_file();
    options.create_new(true);
    let file = match options.open(&temporary) {
        // The folder is nearly always there, and with a hundred servers it pays not to ask first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_folder(folder)?;
            options.open(&temporary)
        }
        file => file,
    };
    let written = file?.write_all(bytes);
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
        assert!(put_new(&path, b"three").is_err());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
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
