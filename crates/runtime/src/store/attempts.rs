//! How the last attempt to connect to each server ended: `cache/attempts.json`.
//!
//! It is shown to the person and says for whom a run need not wait again. A damaged file counts as
//! empty, an old record as none, and a failure to write is only logged. The keys are those of the tool
//! cache.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use wharf_config::text::clip;
use wharf_protocol::Json;

use super::folder_lock::FolderLock;
use super::record_file::{RecordFile, Records, seconds, time_at};
use super::record_keys::RecordKey;

/// The file in the cache folder.
pub(super) const FILE: &str = "attempts.json";

/// How long a record counts.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// How old a record may be before it is written again although nothing has changed.
const RENEWED_AFTER: Duration = Duration::from_secs(60);

/// How many records are kept, and how many characters of a reason.
const MOST_RECORDS: usize = 1_000;
const MOST_ERROR: usize = 300;

/// How the last attempt to connect to a server ended, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastAttempt {
    /// When it ended, to the second.
    pub at: SystemTime,
    /// Why it failed, in a few words that are fit to be shown; none if it did not.
    pub error: Option<String>,
}

impl LastAttempt {
    /// Tells whether the server was connected.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// Notes an attempt that ended just now.
    pub(crate) fn now(error: Option<&str>) -> Self {
        let at = time_at(seconds(SystemTime::now()));
        Self { at, error: error.map(|error| clip(error, MOST_ERROR)) }
    }

    /// Reads a record; nothing if it is malformed, too old, or from the future: then it was written by
    /// a wrong clock.
    pub(super) fn read(record: &Json) -> Option<Self> {
        let record: Record = record.to()?;
        let age = seconds(SystemTime::now()).checked_sub(record.at)?;
        let error = record.error.map(|error| clip(&error, MOST_ERROR));
        (age <= KEPT.as_secs()).then(|| Self { at: time_at(record.at), error })
    }

    /// Tells whether writing this one would change nothing that matters.
    fn is_covered_by(&self, earlier: &Self) -> bool {
        let is_recent = seconds(self.at).abs_diff(seconds(earlier.at)) < RENEWED_AFTER.as_secs();
        is_recent && self.error == earlier.error
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    server: String,
    /// Seconds since 1970.
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The attempts to connect to the servers of one person.
#[derive(Debug)]
pub(crate) struct Attempts {
    file: Option<RecordFile>,
}

/// The attempts that were found in the file.
#[derive(Debug, Default)]
pub(crate) struct KnownAttempts(Arc<Records>);

impl Attempts {
    /// Uses a folder, or keeps nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        Self { file: folder.map(|folder| RecordFile::new(folder.join(FILE))) }
    }

    /// Reads what there is.
    pub(crate) fn load(&self) -> KnownAttempts {
        let records = self.file.as_ref().and_then(|file| file.load().ok());
        KnownAttempts(records.unwrap_or_default())
    }

    /// Writes how attempts ended, in the order in which they did, unless that is known already. A
    /// failure is only logged.
    pub(crate) fn store(&self, lock: &FolderLock<'_>, attempts: &[(RecordKey, LastAttempt)]) {
        let Some(file) = &self.file else { return };
        let known = self.load();
        // A person who runs one command after the other need not write the same every time.
        let is_known = |(key, attempt): &(RecordKey, LastAttempt)| {
            key.hash.is_none() || known.get(key).is_some_and(|known| attempt.is_covered_by(&known))
        };
        if attempts.iter().all(is_known) {
            return;
        }
        let written = file.change(lock, |records| {
            records.retain(|record| LastAttempt::read(record).is_some());
            for (key, attempt) in attempts {
                put(records, key, attempt);
            }
            records.keep_newest(MOST_RECORDS);
        });
        if let Err(error) = written {
            tracing::debug!(%error, "could not keep how attempts to connect ended");
        }
    }
}

impl KnownAttempts {
    /// Returns how the last attempt to connect to a server ended.
    pub(crate) fn get(&self, key: &RecordKey) -> Option<LastAttempt> {
        LastAttempt::read(self.0.get(key.hash.as_deref()?)?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Adds an attempt, unless another process tried later and wrote sooner.
fn put(records: &mut Records, key: &RecordKey, attempt: &LastAttempt) {
    let Some(hash) = &key.hash else { return };
    let earlier = records.get(hash).and_then(LastAttempt::read);
    let (server, error) = (key.server.clone(), attempt.error.clone());
    let record = Json::encode(&Record { server, at: seconds(attempt.at), error });
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

    use super::super::folder_lock::LOCK_WAIT;
    use super::super::tool_cache::{ToolCache, clear_cache};
    use super::*;
    use crate::store::server_identity::ServerIdentity;

    struct Place {
        folder: tempfile::TempDir,
        cache: ToolCache,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = ToolCache::open(Some(folder.path().join("cache")));
            Self { folder, cache }
        }

        fn folder(&self) -> PathBuf {
            self.folder.path().join("cache")
        }

        fn open(&self) -> Attempts {
            Attempts::open(Some(&self.folder()))
        }

        fn key(&self, server: &str) -> RecordKey {
            key(&self.cache, server)
        }

        fn store(&self, server: &str, ago: u64, error: Option<&str>) {
            self.store_all(&[(self.key(server), ended(ago, error))]);
        }

        fn store_all(&self, attempts: &[(RecordKey, LastAttempt)]) {
            let folder = self.folder();
            self.open().store(&FolderLock::new(Some(&folder), LOCK_WAIT), attempts);
        }

        /// Shows an entry as its age, rounded to ten seconds, and its error.
        fn shown(&self, server: &str) -> Option<(u64, Option<String>)> {
            let last = self.open().load().get(&self.key(server))?;
            let age = seconds(SystemTime::now()) - seconds(last.at);
            Some((age / 10 * 10, last.error))
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(self.folder().join(FILE)).unwrap_or_default()
        }
    }

    fn key(cache: &ToolCache, name: &str) -> RecordKey {
        let configuration = Secret::new("identity");
        cache.key(&ServerIdentity { name, configuration, credential: String::new() })
    }

    fn ended(ago: u64, error: Option<&str>) -> LastAttempt {
        let at = time_at(seconds(SystemTime::now()) - ago);
        LastAttempt { at, error: error.map(str::to_owned) }
    }

    #[test]
    fn the_last_attempt_counts() {
        let place = Place::new();
        assert_eq!(place.shown("a"), None);
        place.store("a", 200, Some("x not found"));
        place.store("b", 300, None);
        assert_eq!(place.shown("a"), Some((200, Some("x not found".to_owned()))));
        assert_eq!(place.shown("b"), Some((300, None)));
        place.store("a", 100, None);
        assert_eq!(place.shown("a"), Some((100, None)));
        // Who tried before but comes to write it only now does not count.
        place.store("a", 150, Some("late"));
        assert_eq!(place.shown("a"), Some((100, None)));
        assert!(place.open().load().get(&place.key("b")).unwrap().is_ok());
    }

    #[test]
    fn the_same_outcome_within_a_minute_is_not_written_again() {
        let place = Place::new();
        place.store("a", 50, Some("no"));
        let before = place.bytes();
        place.store("a", 0, Some("no"));
        assert_eq!(place.bytes(), before);
        place.store("a", 0, None);
        assert_eq!(place.shown("a"), Some((0, None)));
        place.store("b", 120, None);
        place.store("b", 30, None);
        assert_eq!(place.shown("b"), Some((30, None)));
    }

    #[test]
    fn what_is_old_or_from_the_future_is_forgotten() {
        let place = Place::new();
        place.store("old", KEPT.as_secs() + 60, None);
        place.store("nearly", KEPT.as_secs() - 60, None);
        assert_eq!(place.shown("old"), None);
        assert!(place.shown("nearly").is_some());
        let future = SystemTime::now() + Duration::from_secs(3600);
        place.store_all(&[(place.key("future"), LastAttempt { at: future, error: None })]);
        assert_eq!(place.shown("future"), None);
        place.store("future", 0, Some("no"));
        assert_eq!(place.shown("future"), Some((0, Some("no".to_owned()))));
        let text = String::from_utf8(place.bytes()).unwrap();
        assert_eq!(text.matches("\"at\"").count(), 2, "{text}");
    }

    #[test]
    fn a_damaged_file_counts_as_empty_and_is_replaced() {
        let place = Place::new();
        place.store("a", 0, None);
        let path = place.folder().join(FILE);
        let whole = String::from_utf8(place.bytes()).unwrap();
        let later = whole.replace("\"version\":1", "\"version\":2");
        let long = format!("{whole}{}", " ".repeat(17 << 20));
        for text in ["", "{", "[]", &whole[..whole.len() - 1], &later, &long] {
            private_file::replace(&path, text.as_bytes()).unwrap();
            assert_eq!(place.shown("a"), None);
            assert!(place.open().load().is_empty());
        }
        private_file::replace(&path, b"\xff\xff").unwrap();
        place.store("b", 0, None);
        assert_eq!((place.shown("a"), place.shown("b")), (None, Some((0, None))));
    }

    #[test]
    fn there_is_a_limit_to_entries_and_to_reasons() {
        let place = Place::new();
        let many: Vec<_> = (0..MOST_RECORDS as u64 + 5)
            .map(|number| (place.key(&number.to_string()), ended(2_000 - number, Some("no"))))
            .collect();
        place.store_all(&many);
        assert_eq!(place.open().load().0.iter().count(), MOST_RECORDS);
        assert_eq!((place.shown("4"), place.shown("5").is_some()), (None, true));
        place.store("a", 0, Some(&"\u{1b}é".repeat(500)));
        let shown = place.shown("a").unwrap().1.unwrap();
        assert!(shown.chars().count() <= MOST_ERROR && shown.starts_with("\\u{1b}é"), "{shown}");
    }

    #[test]
    fn two_processes_do_not_lose_what_the_other_wrote() {
        let place = Place::new();
        std::thread::scope(|scope| {
            for name in ["x", "y"] {
                let place = &place;
                scope.spawn(move || {
                    for round in 0..20 {
                        place.store(&format!("{name}{round}"), 0, None);
                    }
                });
            }
        });
        assert_eq!(place.open().load().0.iter().count(), 40);
    }

    #[test]
    fn clearing_the_cache_forgets_the_attempts_too() {
        let place = Place::new();
        place.store("a", 0, None);
        place.store("b", 0, Some("no"));
        assert_eq!(clear_cache(&place.folder()).unwrap(), 2);
        assert_eq!(place.shown("a"), None);
        assert_eq!(clear_cache(&place.folder()).unwrap(), 0);
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let attempts = Attempts::open(None);
        let key = key(&ToolCache::open(None), "server");
        attempts.store(&FolderLock::new(None, LOCK_WAIT), &[(key.clone(), ended(0, None))]);
        assert_eq!(attempts.load().get(&key), None);
        let place = Place::new();
        private_file::replace(&place.folder(), b"a file, not a folder").unwrap();
        place.store("a", 0, None);
        assert_eq!(place.shown("a"), None);
    }
}
