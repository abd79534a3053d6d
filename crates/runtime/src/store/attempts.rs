//! How the last attempt to connect to each server ended: `cache/attempts.json`.
//!
//! Verbs show it, and a server that failed the last time is not waited for in full. A damaged file
//! counts as empty, an old record as missing, and a write error is only logged. The keys are those
//! of the tool cache.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use wharf_config::text::clip;
use wharf_config::time::unix_seconds;
use wharf_protocol::Json;

use super::folder_lock::FolderLock;
use super::record_file::{MAX_AGE, RecordFile, Records, time_at};
use super::record_keys::RecordKey;

/// The file in the cache folder.
pub(super) const FILE: &str = "attempts.json";

/// An unchanged record is rewritten only if the stored one is older than this.
const REWRITE_AFTER: Duration = Duration::from_secs(60);

/// The maximum number of records, and of characters of an error.
const MAX_RECORDS: usize = 1_000;
const MAX_ERROR_LENGTH: usize = 300;

/// How the last attempt to connect to a server ended, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastAttempt {
    /// When it ended, to the second.
    pub at: SystemTime,
    /// Why it failed, escaped and short enough to be shown; `None` if it succeeded.
    pub error: Option<String>,
}

impl LastAttempt {
    /// Tells whether the attempt succeeded.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the record of an attempt that ended just now.
    pub(crate) fn now(error: Option<&str>) -> Self {
        let at = time_at(unix_seconds(SystemTime::now()));
        Self { at, error: error.map(|error| clip(error, MAX_ERROR_LENGTH)) }
    }

    /// Reads a record; returns `None` if it is malformed, too old, or from the future (written
    /// with a wrong clock).
    pub(super) fn read(record: &Json) -> Option<Self> {
        let record: AttemptRecord = record.to()?;
        let age = unix_seconds(SystemTime::now()).checked_sub(record.at)?;
        let error = record.error.map(|error| clip(&error, MAX_ERROR_LENGTH));
        (age <= MAX_AGE.as_secs()).then(|| Self { at: time_at(record.at), error })
    }

    /// Tells whether it need not be written, because the earlier record is recent and equal.
    fn is_redundant_after(&self, earlier: &Self) -> bool {
        let is_recent =
            unix_seconds(self.at).abs_diff(unix_seconds(earlier.at)) < REWRITE_AFTER.as_secs();
        is_recent && self.error == earlier.error
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct AttemptRecord {
    server: String,
    /// Seconds since 1970.
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The file of last attempts; without a folder nothing is stored.
#[derive(Debug)]
pub(crate) struct AttemptsFile {
    file: Option<RecordFile>,
}

/// The records of the file.
#[derive(Debug, Default)]
pub(crate) struct LoadedAttempts(Arc<Records>);

impl AttemptsFile {
    /// Uses a folder; without one nothing is stored. Nothing is read or created yet.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        Self { file: folder.map(|folder| RecordFile::new(folder.join(FILE))) }
    }

    /// Reads the file.
    pub(crate) fn load(&self) -> LoadedAttempts {
        let records = self.file.as_ref().and_then(|file| file.load().ok());
        LoadedAttempts(records.unwrap_or_default())
    }

    /// Writes attempts in the order in which they ended, unless all are redundant. An error is only
    /// logged.
    pub(crate) fn store(&self, lock: &FolderLock<'_>, attempts: &[(RecordKey, LastAttempt)]) {
        let Some(file) = self.file.as_ref().filter(|_| !attempts.is_empty()) else { return };
        let known = self.load();
        // Several commands in a row must not rewrite the same records each time.
        let is_known = |(key, attempt): &(RecordKey, LastAttempt)| {
            key.hash.is_none()
                || known.get(key).is_some_and(|known| attempt.is_redundant_after(&known))
        };
        if attempts.iter().all(is_known) {
            return;
        }
        let written = file.change(lock, |records| {
            records.retain(|record| LastAttempt::read(record).is_some());
            for (key, attempt) in attempts {
                put(records, key, attempt);
            }
            records.keep_newest(MAX_RECORDS);
        });
        if let Err(error) = written {
            tracing::debug!(%error, "could not keep how attempts to connect ended");
        }
    }
}

impl LoadedAttempts {
    /// Returns the last attempt to connect to a server.
    pub(crate) fn get(&self, key: &RecordKey) -> Option<LastAttempt> {
        LastAttempt::read(self.0.get(key.hash.as_deref()?)?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Adds an attempt, unless the file has a later one of another process.
fn put(records: &mut Records, key: &RecordKey, attempt: &LastAttempt) {
    let Some(hash) = &key.hash else { return };
    let earlier = records.get(hash).and_then(LastAttempt::read);
    let (server, error) = (key.server.clone(), attempt.error.clone());
    let record = Json::encode(&AttemptRecord { server, at: unix_seconds(attempt.at), error });
    if let (Ok(record), false) = (record, earlier.is_some_and(|it| it.at > attempt.at)) {
        records.put(hash, record);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use wharf_config::Secret;
    use wharf_config::store::private_file;

    use super::super::folder_lock::LOCK_TIMEOUT;
    use super::super::tool_cache::{ToolCache, clear_cache};
    use super::*;
    use crate::store::server_identity::ServerIdentity;

    struct TestCache {
        folder: tempfile::TempDir,
        cache: ToolCache,
    }

    impl TestCache {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = ToolCache::open(Some(folder.path().join("cache")));
            Self { folder, cache }
        }

        fn folder(&self) -> PathBuf {
            self.folder.path().join("cache")
        }

        fn open(&self) -> AttemptsFile {
            AttemptsFile::open(Some(&self.folder()))
        }

        fn key(&self, server: &str) -> RecordKey {
            key(&self.cache, server)
        }

        fn store(&self, server: &str, ago: u64, error: Option<&str>) {
            self.store_all(&[(self.key(server), ended(ago, error))]);
        }

        fn store_all(&self, attempts: &[(RecordKey, LastAttempt)]) {
            let folder = self.folder();
            self.open().store(&FolderLock::new(Some(&folder), LOCK_TIMEOUT), attempts);
        }

        /// Renders a record as its age, rounded to ten seconds, and its error.
        fn render(&self, server: &str) -> Option<(u64, Option<String>)> {
            let last = self.open().load().get(&self.key(server))?;
            let age = unix_seconds(SystemTime::now()) - unix_seconds(last.at);
            Some((age / 10 * 10, last.error))
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(self.folder().join(FILE)).unwrap_or_default()
        }
    }

    fn key(cache: &ToolCache, name: &str) -> RecordKey {
        let configuration = Secret::new("identity");
        cache.key(&ServerIdentity {
            name,
            configuration,
            credential: String::new(),
            is_lasting: true,
        })
    }

    fn ended(ago: u64, error: Option<&str>) -> LastAttempt {
        let at = time_at(unix_seconds(SystemTime::now()) - ago);
        LastAttempt { at, error: error.map(str::to_owned) }
    }

    #[test]
    fn the_last_attempt_counts() {
        let test_cache = TestCache::new();
        assert_eq!(test_cache.render("a"), None);
        test_cache.store("a", 200, Some("x not found"));
        test_cache.store("b", 300, None);
        assert_eq!(test_cache.render("a"), Some((200, Some("x not found".to_owned()))));
        assert_eq!(test_cache.render("b"), Some((300, None)));
        test_cache.store("a", 100, None);
        assert_eq!(test_cache.render("a"), Some((100, None)));
        // An earlier attempt that is written later does not replace a later one.
        test_cache.store("a", 150, Some("late"));
        assert_eq!(test_cache.render("a"), Some((100, None)));
        assert!(test_cache.open().load().get(&test_cache.key("b")).unwrap().is_ok());
    }

    #[test]
    fn the_same_outcome_within_a_minute_is_not_written_again() {
        let test_cache = TestCache::new();
        test_cache.store("a", 50, Some("no"));
        let before = test_cache.bytes();
        test_cache.store("a", 0, Some("no"));
        assert_eq!(test_cache.bytes(), before);
        test_cache.store("a", 0, None);
        assert_eq!(test_cache.render("a"), Some((0, None)));
        test_cache.store("b", 120, None);
        test_cache.store("b", 30, None);
        assert_eq!(test_cache.render("b"), Some((30, None)));
    }

    #[test]
    fn old_and_future_records_are_ignored() {
        let test_cache = TestCache::new();
        test_cache.store("old", MAX_AGE.as_secs() + 60, None);
        test_cache.store("nearly", MAX_AGE.as_secs() - 60, None);
        assert_eq!(test_cache.render("old"), None);
        assert!(test_cache.render("nearly").is_some());
        let future = SystemTime::now() + Duration::from_secs(3600);
        test_cache
            .store_all(&[(test_cache.key("future"), LastAttempt { at: future, error: None })]);
        assert_eq!(test_cache.render("future"), None);
        test_cache.store("future", 0, Some("no"));
        assert_eq!(test_cache.render("future"), Some((0, Some("no".to_owned()))));
        let text = String::from_utf8(test_cache.bytes()).unwrap();
        assert_eq!(text.matches("\"at\"").count(), 2, "{text}");
    }

    #[test]
    fn a_damaged_file_counts_as_empty_and_is_replaced() {
        let test_cache = TestCache::new();
        test_cache.store("a", 0, None);
        let path = test_cache.folder().join(FILE);
        let whole = String::from_utf8(test_cache.bytes()).unwrap();
        let later = whole.replace("\"version\":1", "\"version\":2");
        let long = format!("{whole}{}", " ".repeat(17 << 20));
        for text in ["", "{", "[]", &whole[..whole.len() - 1], &later, &long] {
            private_file::replace(&path, text.as_bytes()).unwrap();
            assert_eq!(test_cache.render("a"), None);
            assert!(test_cache.open().load().is_empty());
        }
        private_file::replace(&path, b"\xff\xff").unwrap();
        test_cache.store("b", 0, None);
        assert_eq!((test_cache.render("a"), test_cache.render("b")), (None, Some((0, None))));
    }

    #[test]
    fn records_and_error_texts_are_limited() {
        let test_cache = TestCache::new();
        let many: Vec<_> = (0..MAX_RECORDS as u64 + 5)
            .map(|number| (test_cache.key(&number.to_string()), ended(2_000 - number, Some("no"))))
            .collect();
        test_cache.store_all(&many);
        assert_eq!(test_cache.open().load().0.iter().count(), MAX_RECORDS);
        assert_eq!((test_cache.render("4"), test_cache.render("5").is_some()), (None, true));
        test_cache.store("a", 0, Some(&"\u{1b}é".repeat(500)));
        let rendered = test_cache.render("a").unwrap().1.unwrap();
        assert!(
            rendered.chars().count() <= MAX_ERROR_LENGTH && rendered.starts_with("\\u{1b}é"),
            "{rendered}"
        );
    }

    #[test]
    fn concurrent_writers_keep_the_records_of_the_others() {
        let test_cache = TestCache::new();
        std::thread::scope(|scope| {
            for name in ["x", "y"] {
                let test_cache = &test_cache;
                scope.spawn(move || {
                    for round in 0..20 {
                        test_cache.store(&format!("{name}{round}"), 0, None);
                    }
                });
            }
        });
        assert_eq!(test_cache.open().load().0.iter().count(), 40);
    }

    #[test]
    fn clearing_the_cache_removes_the_attempts() {
        let test_cache = TestCache::new();
        test_cache.store("a", 0, None);
        test_cache.store("b", 0, Some("no"));
        assert_eq!(clear_cache(&test_cache.folder()).unwrap(), 2);
        assert_eq!(test_cache.render("a"), None);
        assert_eq!(clear_cache(&test_cache.folder()).unwrap(), 0);
    }

    #[test]
    fn without_a_folder_nothing_is_stored_and_nothing_fails() {
        let attempts = AttemptsFile::open(None);
        let key = key(&ToolCache::open(None), "server");
        attempts.store(&FolderLock::new(None, LOCK_TIMEOUT), &[(key.clone(), ended(0, None))]);
        assert_eq!(attempts.load().get(&key), None);
        let test_cache = TestCache::new();
        private_file::replace(&test_cache.folder(), b"a file, not a folder").unwrap();
        test_cache.store("a", 0, None);
        assert_eq!(test_cache.render("a"), None);
    }
}
