//! How the last attempt to connect to each server ended: one small file beside the cache.
//!
//! It is there to be told, and nothing is decided by it. A damaged file counts as empty, an old entry
//! as none, and writing is best effort. Servers stand under the keys of the cache, which give nothing
//! away.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use wharf_config::store;
use wharf_config::text::clip;

use super::tool_cache::CacheKey;
use super::files::{self, Turn};
use super::pack::seconds;

const VERSION: u32 = 1;

/// The file in the cache folder.
const FILE: &str = "last.json";

/// How long an entry counts.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// How old an entry may be before it is written again although nothing has changed.
const RENEWED_AFTER: Duration = Duration::from_secs(60);

/// The most entries, characters of a reason, and bytes of the file.
const MOST_ENTRIES: usize = 1_000;
const MOST_ERROR: usize = 300;
const MOST_BYTES: usize = 2 << 20;

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
        Entry { at: seconds(SystemTime::now()), error: error.map(str::to_owned) }.into()
    }
}

/// The attempts to connect to the servers of one person.
#[derive(Debug)]
pub(crate) struct Attempts {
    path: Option<PathBuf>,
}

/// What was found in the file.
#[derive(Debug, Default)]
pub(crate) struct Ended(BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Seconds since 1970.
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    version: u32,
    attempts: BTreeMap<String, Entry>,
}

impl Attempts {
    /// Uses a folder, or keeps nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        Self { path: folder.map(|folder| folder.join(FILE)) }
    }

    /// Reads what there is.
    pub(crate) fn load(&self) -> Ended {
        Ended(self.path.as_deref().map(read).unwrap_or_default())
    }

    /// Writes how attempts ended, in the order in which they did, unless that is known already. That
    /// it may fail is no matter.
    pub(crate) fn store(&self, turn: &Turn<'_>, attempts: &[(CacheKey, LastAttempt)]) {
        let Some(path) = &self.path else { return };
        let keyed = attempts.iter().filter_map(|(key, last)| Some((key.as_str()?, last.into())));
        let new: Vec<(&str, Entry)> = keyed.collect();
        // Who runs one command after the other need not write the same every time.
        let known = if new.is_empty() { BTreeMap::new() } else { read(path) };
        let is_known = |(key, entry): &(&str, Entry)| {
            known.get(*key).is_some_and(|earlier| entry.is_covered_by(earlier))
        };
        if new.iter().all(is_known) {
            return;
        }
        if let Err(error) = change(turn, path, new) {
            tracing::debug!(%error, "could not keep how attempts to connect ended");
        }
    }
}

impl Ended {
    /// Returns how the last attempt ended of which this is the key.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<LastAttempt> {
        self.0.get(key.as_str()?).cloned().map(LastAttempt::from)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Forgets all attempts that are remembered in a cache folder; returns their keys.
pub(super) fn clear(folder: &Path) -> io::Result<Vec<String>> {
    let path = folder.join(FILE);
    let keys = read(&path).into_keys().collect();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(keys),
    }
}

impl Entry {
    /// Tells whether writing this one would change nothing worth it.
    fn is_covered_by(&self, earlier: &Self) -> bool {
        let is_recent = self.at.abs_diff(earlier.at) < RENEWED_AFTER.as_secs();
        is_recent && self.error == earlier.error
    }

    /// Tells whether it still says something. What is from the future was written by a wrong clock.
    fn counts(&self, now: u64) -> bool {
        now.checked_sub(self.at).is_some_and(|age| age <= KEPT.as_secs())
    }
}

impl From<Entry> for LastAttempt {
    fn from(entry: Entry) -> Self {
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.at));
        let error = entry.error.map(|error| clip(&error, MOST_ERROR));
        Self { at: at.unwrap_or(SystemTime::UNIX_EPOCH), error }
    }
}

impl From<&LastAttempt> for Entry {
    fn from(attempt: &LastAttempt) -> Self {
        Self { at: seconds(attempt.at), error: attempt.error.clone() }
    }
}

/// Reads the entries that count; none if the file is not whole.
fn read(path: &Path) -> BTreeMap<String, Entry> {
    let text = store::read(path).ok().flatten().filter(|text| text.len() <= MOST_BYTES);
    let file = text.and_then(|text| serde_json::from_str::<File>(&text).ok());
    let mut entries = match file {
        Some(file) if file.version == VERSION => file.attempts,
        _ => return BTreeMap::new(),
    };
    // Read after the file, so that what another process has just written is not from the future.
    let now = seconds(SystemTime::now());
    entries.retain(|_, entry| entry.counts(now));
    entries
}

/// Adds entries to what there is, and forgets those that no longer count and the oldest if there are
/// too many. Blocks for as long as the disk, and others, take.
fn change(turn: &Turn<'_>, path: &Path, new: Vec<(&str, Entry)>) -> io::Result<()> {
    turn.take()?;
    let mut attempts = read(path);
    for (key, entry) in new {
        // Another process may have tried later and written sooner.
        if attempts.get(key).is_none_or(|other| other.at <= entry.at) {
            attempts.insert(key.to_owned(), entry);
        }
    }
    forget_oldest(&mut attempts);
    files::put_quickly(path, &serde_json::to_vec(&File { version: VERSION, attempts })?)
}

fn forget_oldest(attempts: &mut BTreeMap<String, Entry>) {
    let over = attempts.len().saturating_sub(MOST_ENTRIES);
    if over == 0 {
        return;
    }
    let mut by_age: Vec<(u64, String)> =
        attempts.iter().map(|(key, entry)| (entry.at, key.clone())).collect();
    by_age.sort_unstable();
    for (_, key) in by_age.drain(..over) {
        attempts.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::Secret;

    use super::super::tool_cache::{ToolCache, clear_cache};
    use super::*;

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

        fn key(&self, server: &str) -> CacheKey {
            self.cache.key(server, &Secret::new("identity"), "")
        }

        fn store(&self, server: &str, ago: u64, error: Option<&str>) {
            self.store_all(&[(self.key(server), ended(ago, error))]);
        }

        fn store_all(&self, attempts: &[(CacheKey, LastAttempt)]) {
            let folder = self.folder();
            self.open().store(&Turn::new(Some(&folder), files::LOCK_WAIT), attempts);
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

    fn ended(ago: u64, error: Option<&str>) -> LastAttempt {
        let at = seconds(SystemTime::now()) - ago;
        Entry { at, error: error.map(str::to_owned) }.into()
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
        let future = Entry { at: seconds(SystemTime::now()) + 3600, error: None };
        place.store_all(&[(place.key("future"), future.into())]);
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
        let long = format!("{whole}{}", " ".repeat(MOST_BYTES));
        for text in ["", "{", "[]", &whole[..whole.len() - 1], &later, &long] {
            files::put(&path, text.as_bytes()).unwrap();
            assert_eq!(place.shown("a"), None);
            assert!(place.open().load().is_empty());
        }
        files::put(&path, b"\xff\xff").unwrap();
        place.store("b", 0, None);
        assert_eq!((place.shown("a"), place.shown("b")), (None, Some((0, None))));
    }

    #[test]
    fn there_is_a_limit_to_entries_and_to_reasons() {
        let place = Place::new();
        let many: Vec<_> = (0..MOST_ENTRIES as u64 + 5)
            .map(|number| (place.key(&number.to_string()), ended(2_000 - number, Some("no"))))
            .collect();
        place.store_all(&many);
        assert_eq!(place.open().load().0.len(), MOST_ENTRIES);
        assert_eq!((place.shown("4"), place.shown("5").is_some()), (None, true));
        place.store("a", 0, Some(&"\u{1b}é".repeat(500)));
        let shown = place.shown("a").unwrap().1.unwrap();
        assert!(shown.chars().count() <= MOST_ERROR && shown.starts_with("\\u{1b}é"), "{shown}");
        assert!(place.bytes().len() < MOST_BYTES);
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
        assert_eq!(place.open().load().0.len(), 40);
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
        let key = ToolCache::open(None).key("server", &Secret::new("identity"), "");
        attempts.store(&Turn::new(None, files::LOCK_WAIT), &[(key.clone(), ended(0, None))]);
        assert_eq!(attempts.load().get(&key), None);
        let place = Place::new();
        files::put(&place.folder(), b"a file, not a folder").unwrap();
        place.store("a", 0, None);
        assert_eq!(place.shown("a"), None);
    }
}
