//! Replaces a file as a whole: a crash in the middle leaves the old one or the new one.
//!
//! The new content goes to a temporary file in the same folder, down to the disk, and then takes
//! the name of the old one. Not carried over are access lists and hard links.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::error::{StoreError, Trouble};
use super::read::{destination, look};

/// How temporary files end; a crash may leave one behind.
const TEMPORARY: &str = ".wharf-tmp";

/// A temporary file that is older was left behind: no write takes this long.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Replaces a file by a new one with this text.
///
/// Follows symbolic links, also to a file that does not exist yet. Keeps the mode of the file, and
/// its owner if possible; a new file is only for its owner, as are folders that have to be made.
/// Fails without a trace: the old file stays and no other is left. Hold the [`super::Lock`] from
/// reading on.
pub fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    let target = destination(path)?;
    let old = look(&target)?;
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(StoreError::new(path, Trouble::ReadOnly));
    }
    let folder = folder_of(&target);
    replace(&target, &folder, text.as_bytes(), old.as_ref()).map_err(|source| {
        StoreError::new(path, Trouble::Unwritable { folder: folder.clone(), source })
    })
}

/// Puts bytes where a file is or will be, with the mode and owner of another.
pub(super) fn replace(
    target: &Path,
    folder: &Path,
    bytes: &[u8],
    like: Option<&Metadata>,
) -> io::Result<()> {
    create_folders(folder)?;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    clear_left_behind(folder, name);
    // Nobody but the owner can read a temporary file, until it gets the mode of the old one.
    let mut file =
        tempfile::Builder::new().prefix(&prefix(name)).suffix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(like) = like {
        adopt(&file, like)?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Returns the folder a file is in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes a folder and those above it, only for their owner, as far as they are missing.
pub(super) fn create_folders(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns options under which a new file is only for its owner.
pub(super) fn new_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes elsewhere"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn adopt(file: &NamedTempFile, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let own = file.as_file().metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        // Only root may give a file away. For others the file becomes theirs, as in an editor.
        drop(fchown(file.as_file(), Some(like.uid()), Some(like.gid())));
    }
    file.as_file().set_permissions(like.permissions())
}

#[cfg(not(unix))]
fn adopt(file: &NamedTempFile, like: &Metadata) -> io::Result<()> {
    file.as_file().set_permissions(like.permissions())
}

/// Brings the new name down to the disk; without it a crash may bring the old file back.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match fs::File::open(folder)?.sync_all() {
        // Some file systems cannot do this for folders, and need not.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes what crashed writes of this file left. Failing at that is no reason not to write.
fn clear_left_behind(folder: &Path, name: &OsStr) {
    let prefix = prefix(name);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name();
        let is_ours = own.as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
            && own.as_encoded_bytes().ends_with(TEMPORARY.as_bytes());
        let is_old = || {
            let about = entry.metadata().ok()?;
            Some(about.modified().ok()?.elapsed().ok()? > LEFT_BEHIND)
        };
        if is_ours && is_old() == Some(true) {
            drop(fs::remove_file(entry.path()));
        }
    }
}
