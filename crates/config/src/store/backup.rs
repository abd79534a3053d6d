//! Backups of a file before a change.
//!
//! `mcp.json.wharf-backup` is the newest one, `.wharf-backup.1` to `.wharf-backup.4` are older.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{StoreError, StoreErrorKind};
use super::open_elsewhere::retry;
use super::private_file::folder_of;
use super::read::read_bytes;
use super::write::replace;

/// How many backups are kept.
const MAX_BACKUPS: usize = 5;

/// Copies a file to a backup beside it and returns the path; `None` if there is no file.
///
/// Keeps the newest five backups, with the mode of the file. If the newest backup is equal, no new
/// one is made. The backup of a symbolic link is beside the link.
pub fn back_up(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Some((bytes, metadata)) = read_bytes(path)? else { return Ok(None) };
    let copy = backup_path(path, 0);
    if read_bytes(&copy).is_ok_and(|old| old.is_some_and(|(old, _)| old == bytes)) {
        return Ok(Some(copy));
    }
    let folder = folder_of(path);
    let result =
        rotate_backups(path).and_then(|()| replace(&copy, &folder, &bytes, Some(&metadata)));
    match result {
        Ok(()) => Ok(Some(copy)),
        Err(source) => Err(StoreError::new(&copy, StoreErrorKind::Unwritable { folder, source })),
    }
}

fn rotate_backups(path: &Path) -> io::Result<()> {
    for number in (1..MAX_BACKUPS).rev() {
        let (newer, older) = (backup_path(path, number - 1), backup_path(path, number));
        match retry(|| fs::rename(&newer, &older)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn backup_path(path: &Path, number: usize) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".wharf-backup");
    if number > 0 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}
