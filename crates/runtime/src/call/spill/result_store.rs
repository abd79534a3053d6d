//! The folder of stored results: only the owner can read the files, and a quota limits them.
//!
//! A file is named after the hash of its content, so equal results are stored once. It is written
//! under another name first and then renamed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use sha2::{Digest, Sha256};
use wharf_config::store::private_file;

/// A folder of results that are too long for a model, or not text.
///
/// Its functions block the thread while they write.
#[derive(Debug, Clone)]
pub struct ResultStore {
    folder: PathBuf,
    quota: Quota,
}

/// The limits of a result store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The maximum total size in bytes.
    pub bytes: u64,
    /// The maximum number of files.
    pub files: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self { bytes: 256 * 1024 * 1024, files: 1000 }
    }
}

/// Why a result was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// It is larger than the quota.
    #[error("{size} bytes exceed the quota of {quota} bytes")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The quota in bytes.
        quota: u64,
    },
    /// The data is not valid base64.
    #[error("it is not valid base64")]
    NotBase64,
    /// Writing failed.
    #[error("it could not be written to {}", folder.display())]
    Write {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl ResultStore {
    /// Stores results in this folder, which is created with the first one.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), quota: Quota::default() }
    }

    /// Sets the quota.
    #[must_use]
    pub fn with_quota(mut self, quota: Quota) -> Self {
        self.quota = quota;
        self
    }

    /// Stores a text and returns its file.
    pub fn keep_text(&self, text: &str) -> Result<PathBuf, SpillError> {
        self.keep(text.as_bytes(), "txt")
    }

    /// Stores bytes in a file with this extension and returns it.
    pub(super) fn keep(&self, bytes: &[u8], ending: &str) -> Result<PathBuf, SpillError> {
        let size = bytes.len() as u64;
        if size > self.quota.bytes {
            return Err(SpillError::TooLarge { size, quota: self.quota.bytes });
        }
        let path = self.folder.join(format!("{}.{ending}", name_of(bytes)));
        let written = private_file::restrict_folder(&self.folder)
            .and_then(|()| private_file::replace(&path, bytes));
        written.map_err(|source| SpillError::Write { folder: self.folder.clone(), source })?;
        self.remove_oldest(&path);
        Ok(path)
    }

    /// Returns the maximum total size in bytes.
    pub(super) fn most_bytes(&self) -> u64 {
        self.quota.bytes
    }

    /// Removes the oldest files until the rest is within the quota. Ignores errors.
    fn remove_oldest(&self, newest: &Path) {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((
                    about.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    about.len(),
                    entry.path(),
                ))
            })
            .collect();
        files.sort();
        let mut bytes: u64 = files.iter().map(|(_, size, _)| size).sum();
        let mut count = files.len();
        for (_, size, path) in files.iter().filter(|(_, _, path)| path != newest) {
            if bytes <= self.quota.bytes && count <= self.quota.files {
                break;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= size;
                count -= 1;
            }
        }
    }
}

/// Returns a name that is equal only for equal contents.
fn name_of(bytes: &[u8]) -> String {
    private_file::hex(&Sha256::digest(bytes)[..12])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    /// Makes a file older, because the timestamps of the disk may be coarse.
    fn age(path: &Path, seconds: u64) {
        let then = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn a_result_is_stored_once_and_readable_only_by_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/results");
        let store = ResultStore::new(&folder);
        let path = store.keep_text("long").unwrap();
        assert_eq!(store.keep_text("long").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "long");
        assert_eq!(names(&folder), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, PermissionsExt};
            let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
            assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
            store.keep_text("other").unwrap();
            assert_eq!(mode(&folder), 0o700);
        }
    }

    #[test]
    fn the_oldest_files_are_removed_first() {
        let home = tempfile::tempdir().unwrap();
        let check = |quota: Quota, left: &[bool]| {
            let folder = home.path().join(format!("{}-{}", quota.bytes, quota.files));
            let store = ResultStore::new(&folder).with_quota(Quota::default());
            let old: Vec<PathBuf> = (0..4_u64)
                .map(|it| {
                    let path = store.keep_text(&format!("{it}").repeat(100)).unwrap();
                    age(&path, 100 - it);
                    path
                })
                .collect();
            let newest = store.with_quota(quota).keep_text(&"x".repeat(100)).unwrap();
            let found: Vec<bool> = old.iter().map(|path| path.exists()).collect();
            assert_eq!(found, left, "{quota:?}");
            assert!(newest.exists());
        };
        check(Quota { bytes: 1000, files: 9 }, &[true, true, true, true]);
        check(Quota { bytes: 1000, files: 3 }, &[false, false, true, true]);
        check(Quota { bytes: 250, files: 9 }, &[false, false, false, true]);
        check(Quota { bytes: 100, files: 9 }, &[false, false, false, false]);
    }

    #[test]
    fn a_result_that_cannot_be_stored_has_a_reason() {
        let home = tempfile::tempdir().unwrap();
        let small = ResultStore::new(home.path()).with_quota(Quota { bytes: 3, files: 1 });
        let error = small.keep_text("four").unwrap_err();
        assert_eq!(error.to_string(), "4 bytes exceed the quota of 3 bytes");
        assert_eq!(names(home.path()), 0);
        let file = ResultStore::new(home.path()).keep_text("a").unwrap();
        let below = ResultStore::new(file.join("below"));
        assert!(matches!(below.keep_text("b"), Err(SpillError::Write { .. })));
    }
}
