//! Replaces a whole file atomically: after a crash there is either the old file or the new one.
//!
//! The content is written to a temporary file in the same folder and synced, and the file is then
//! renamed. Access lists and hard links are lost.

use std::fs::Metadata;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::error::{StoreError, StoreErrorKind};
use super::private_file::{self, folder_of};
use super::read::{regular_file_metadata, resolve_links};

/// Replaces the content of a file.
///
/// Follows symbolic links, also to a file that does not exist yet. Keeps the mode of the file, and
/// its owner if possible; only the owner can access a new file and new folders. On failure the old
/// file stays and no temporary file is left. The caller must hold the [`super::WriteLock`] while it
/// reads, changes and writes.
pub fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    let target = resolve_links(path)?;
    let old = regular_file_metadata(&target)?;
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(StoreError::new(path, StoreErrorKind::ReadOnly));
    }
    let folder = folder_of(&target);
    replace(&target, &folder, text.as_bytes(), old.as_ref()).map_err(|source| {
        StoreError::new(path, StoreErrorKind::Unwritable { folder: folder.clone(), source })
    })
}

/// Writes bytes to a file, with the mode and owner of `like`.
pub(super) fn replace(
    target: &Path,
    folder: &Path,
    bytes: &[u8],
    like: Option<&Metadata>,
) -> io::Result<()> {
    private_file::create_folder(folder)?;
    private_file::remove_leftovers_of(folder, target.file_name().unwrap_or_default());
    // Only the owner can read the temporary file until it gets the mode of the old one.
    let mut file = private_file::create_temporary_beside(target)?;
    file.write_all(bytes)?;
    if let Some(like) = like {
        copy_mode_and_owner(&file, like)?;
    }
    file.as_file().sync_all()?;
    private_file::rename_over(file, target)?;
    sync_folder(folder)
}

#[cfg(unix)]
fn copy_mode_and_owner(file: &NamedTempFile, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let own = file.as_file().metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        // Only root may change the owner. For other users the file becomes theirs, as in an editor.
        drop(fchown(file.as_file(), Some(like.uid()), Some(like.gid())));
    }
    file.as_file().set_permissions(like.permissions())
}

#[cfg(not(unix))]
fn copy_mode_and_owner(file: &NamedTempFile, like: &Metadata) -> io::Result<()> {
    file.as_file().set_permissions(like.permissions())
}

/// Syncs the folder; otherwise a crash may restore the old file.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match std::fs::File::open(folder)?.sync_all() {
        // Some file systems cannot sync folders and do not need it.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
