//! Reads files with a size limit, without blocking on pipes or devices; follows symbolic links.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::{StoreError, StoreErrorKind};
use super::open::file_type_name;
use super::open_elsewhere::retry;

/// The size limit for a file.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How many symbolic links are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Reads a file; returns `None` if it does not exist, after one system call.
///
/// Fails if it is not a regular file, too large, not UTF-8, unreadable, or a dangling link.
pub fn read(path: &Path) -> Result<Option<String>, StoreError> {
    read_at_most(path, MAX_FILE_BYTES)
}

/// Does the same with another size limit.
pub(crate) fn read_at_most(path: &Path, most: u64) -> Result<Option<String>, StoreError> {
    let Some((bytes, _)) = read_bytes_at_most(path, most)? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = u32::try_from(good.split(|byte| *byte == b'\n').count());
            let line = line.unwrap_or(u32::MAX);
            Err(StoreError::new(path, StoreErrorKind::NotUtf8 { line }))
        }
    }
}

/// Reads the bytes and metadata of a file.
pub(super) fn read_bytes(path: &Path) -> Result<Option<(Vec<u8>, Metadata)>, StoreError> {
    read_bytes_at_most(path, MAX_FILE_BYTES)
}

fn read_bytes_at_most(path: &Path, most: u64) -> Result<Option<(Vec<u8>, Metadata)>, StoreError> {
    let fail = |kind| StoreError::new(path, kind);
    let Some(metadata) = regular_file_metadata(path)? else { return Ok(None) };
    if metadata.len() > most {
        return Err(fail(StoreErrorKind::TooLarge));
    }
    let unreadable = |source| fail(StoreErrorKind::Unreadable(source));
    let file = open(path).map_err(unreadable)?;
    // The file may have been replaced since the check.
    let metadata = file.metadata().map_err(unreadable)?;
    must_be_a_file(path, metadata.file_type())?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(fail(StoreErrorKind::TooLarge));
    }
    Ok(Some((bytes, metadata)))
}

/// Follows symbolic links to the path of the file, which need not exist.
pub(super) fn resolve_links(path: &Path) -> Result<PathBuf, StoreError> {
    let mut at = path.to_owned();
    for _ in 0..=MAX_LINKS {
        match fs::read_link(&at) {
            // A relative link is relative to its folder.
            Ok(target) => at = at.parent().unwrap_or(Path::new("")).join(target),
            // It is not a link, or this is unknown; using the path then returns the error.
            Err(_) => return Ok(at),
        }
    }
    Err(StoreError::new(path, StoreErrorKind::LinkLoop))
}

/// Returns the metadata of a regular file; `None` if it does not exist.
pub(super) fn regular_file_metadata(path: &Path) -> Result<Option<Metadata>, StoreError> {
    let unreadable = |source| StoreError::new(path, StoreErrorKind::Unreadable(source));
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = if metadata.is_symlink() {
        let target = resolve_links(path)?;
        fs::metadata(path).map_err(|error| {
            let is_missing = is_missing(&error);
            let kind = if is_missing {
                StoreErrorKind::DanglingLink(target)
            } else {
                StoreErrorKind::Unreadable(error)
            };
            StoreError::new(path, kind)
        })?
    } else {
        metadata
    };
    must_be_a_file(path, metadata.file_type())?;
    Ok(Some(metadata))
}

/// If a parent is a file instead of a folder, the file is also missing.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn must_be_a_file(path: &Path, kind: FileType) -> Result<(), StoreError> {
    if kind.is_file() {
        return Ok(());
    }
    Err(StoreError::new(path, StoreErrorKind::NotAFile(file_type_name(kind))))
}

/// Opens a file for reading without blocking: it may have become a pipe since the check.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, super::open::O_NONBLOCK);
    retry(|| options.open(path))
}
