//! Wharf's own files and folders, which only their owner can read: modes 0600 and 0700, and access
//! lists (`owner_only`) on Windows.
//!
//! A file is replaced by renaming a temporary file beside it. [`write`](fn@write) also syncs, for
//! data that must not be lost. [`replace`] does not, for caches: a crash of the machine may lose or
//! empty such a file. Locks are in `lock`.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::error::StoreError;
use super::open_elsewhere::retry;

/// The suffix of temporary files; a crash may leave one behind.
const TEMPORARY: &str = ".wharf-tmp";

/// An older temporary file was left by a crash: no write takes this long.
const LEFTOVER_AGE: Duration = Duration::from_secs(600);

/// Replaces a file and syncs it. Removes the access of other users to an existing file.
pub fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    restrict_file(path);
    super::write(path, text)?;
    // A new file of Windows has the list of its folder.
    #[cfg(windows)]
    restrict_file(path);
    Ok(())
}

/// Replaces a file without syncing it. A missing folder is created.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    rename_over(write_temporary_beside(path, bytes)?, path)
}

/// Creates a file. If several processes try at the same time, one succeeds.
///
/// Fails with [`io::ErrorKind::AlreadyExists`] if the file exists.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_temporary_beside(path, bytes)?
        .persist_noclobber(path)
        .map(drop)
        .map_err(|error| error.error)
}

/// Creates an empty file and opens it for writing. A missing folder is created.
pub fn open_new(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.write(true).create_new(true);
    let file = match options.open(path) {
        // The folder nearly always exists.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(&folder_of(path))?;
            options.open(path)
        }
        file => file,
    };
    #[cfg(windows)]
    if file.is_ok() {
        restrict_file(path);
    }
    file
}

/// Returns options with which only the owner can access a new file.
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes elsewhere"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates missing folders, which only the owner can access. Existing folders are not changed.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    #[cfg(windows)]
    let new = folder.ancestors().take_while(|it| !it.exists()).last();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(windows)]
    new.map(super::owner_only::restrict_folder).transpose()?;
    Ok(())
}

/// Creates a missing folder, and removes the access of other users to an existing one.
pub fn restrict_folder(folder: &Path) -> io::Result<()> {
    create_folder(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(windows)]
    super::owner_only::restrict_folder(folder)?;
    Ok(())
}

/// Removes the temporary files that crashed writes left in a folder. Errors are ignored.
pub fn remove_leftovers(folder: &Path) {
    remove_leftovers_of(folder, OsStr::new(""));
}

/// Does the same only for the temporary files of one file.
pub(super) fn remove_leftovers_of(folder: &Path, name: &OsStr) {
    let prefix = prefix(name);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name();
        let is_temporary = own.as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
            && own.as_encoded_bytes().ends_with(TEMPORARY.as_bytes());
        let is_old = || {
            let metadata = entry.metadata().ok()?;
            Some(metadata.modified().ok()?.elapsed().ok()? > LEFTOVER_AGE)
        };
        if is_temporary && is_old() == Some(true) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Formats bytes as hexadecimal digits, for example a hash.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Returns an unguessable id, for keys and references.
///
/// Fails if the system has no random numbers.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
}

/// Returns the folder of a file.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Creates an empty temporary file beside a file, in an existing folder. Dropping it before it is
/// renamed removes it.
pub(super) fn create_temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix(name)).suffix(TEMPORARY).tempfile_in(folder_of(path))
}

/// Gives a temporary file its final path; a file there is replaced.
pub(super) fn rename_over(file: NamedTempFile, path: &Path) -> io::Result<()> {
    // Closed first: otherwise this program would have it open.
    let mut temporary = Some(file.into_temp_path());
    retry(|| {
        let Some(file) = temporary.take() else { return Ok(()) };
        file.persist(path).map_err(|error| {
            temporary = Some(error.path);
            error.error
        })
    })
}

fn write_temporary_beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = match create_temporary_beside(path) {
        // The folder nearly always exists.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            restrict_folder(&folder_of(path))?;
            create_temporary_beside(path)?
        }
        file => file?,
    };
    #[cfg(windows)]
    super::owner_only::restrict_file(file.path())?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Returns the prefix of temporary files: a dot and the name of the file that they replace.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    if !name.is_empty() {
        prefix.push(".");
    }
    prefix
}

/// Removes the access of other users before new content is written.
#[cfg(unix)]
fn restrict_file(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let is_open = path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    if is_open {
        // If this fails, the write returns the error.
        drop(fs::set_permissions(path, fs::Permissions::from_mode(0o600)));
    }
}

#[cfg(windows)]
fn restrict_file(path: &Path) {
    if path.exists() {
        // A file system without access lists has none to change.
        drop(super::owner_only::restrict_file(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let error = create(&path, b"three").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        create(&path.with_file_name("new"), b"four").unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn only_old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names = [".a.1.wharf-tmp", ".b.1.wharf-tmp", ".a.2.wharf-tmp", "a"];
        let paths = names.map(|name| folder.path().join(name));
        for path in &paths {
            replace(path, b"").unwrap();
        }
        for path in [&paths[0], &paths[1], &paths[3]] {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(std::time::SystemTime::now() - LEFTOVER_AGE * 2).unwrap();
        }
        remove_leftovers_of(folder.path(), OsStr::new("a"));
        assert_eq!(paths.each_ref().map(|path| path.exists()), [false, true, true, true]);
        remove_leftovers(folder.path());
        assert_eq!(paths.map(|path| path.exists()), [false, false, true, true]);
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_only_for_their_owner() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("cache");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        create_folder(&inner).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&inner), 0o755);
        restrict_folder(&inner).unwrap();
        replace(&inner.join("file"), b"").unwrap();
        drop(open_new(&inner.join("deep/new")).unwrap());
        let modes = ["", "file", "deep", "deep/new"].map(|name| mode(&inner.join(name)));
        assert_eq!(modes, [0o700, 0o600, 0o700, 0o600]);
    }

    #[test]
    fn ids_are_hexadecimal_and_differ() {
        assert_eq!(hex(&[0, 1, 0xab, 0xff]), "0001abff");
        let (one, other) = (random_id().unwrap(), random_id().unwrap());
        assert!(one.len() == 32 && one != other);
    }
}
