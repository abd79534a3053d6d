//! The one file format under `cache/` and `pins/`: a JSON object with one record per key.
//!
//! ```json
//! {"version":1,"servers":{
//! "4f1c09…":{"server":"fs","saved":1789000000,"tools":[]},
//! "9a0be7…":{"server":"git","saved":1789000005,"tools":[]}
//! }}
//! ```
//!
//! Records are in the order in which they were written, the newest last. A change rewrites the
//! whole file under the lock of its folder: a reader sees the old file or the new one, and
//! concurrent writers lose nothing. A file that is malformed, too large or of another version is
//! damaged; the next change replaces it and stores the time in `damaged`.

use std::fs::{self, Metadata};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use wharf_config::store::{self, MAX_FILE_BYTES, StoreError, StoreErrorKind, private_file};
use wharf_config::time::unix_seconds;
use wharf_protocol::Json;

use super::folder_lock::FolderLock;

const VERSION: &str = "1";

/// How long a missing record may count as lost after damage.
const DAMAGE_MAX_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

/// Older records of a cache are ignored.
pub(super) const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The maximum size of all records of a file, in bytes.
pub(super) const MAX_BYTES: usize = 14 << 20;

/// A file of records.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    is_durable: bool,
    /// The records that were read last, valid while the file is not replaced.
    last_read: Mutex<Option<(FileStamp, Arc<Records>)>>,
}

/// The contents of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    /// A hash that identifies the secret of the keys, without revealing it.
    pub(super) seal: Option<String>,
    /// When the file was found damaged, in seconds since 1970: records may have been lost.
    damaged: Option<u64>,
    /// Key and record, in the order in which they were written.
    all: Vec<(String, Json)>,
}

impl RecordFile {
    /// Uses a file. Nothing is read or written yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, is_durable: false, last_read: Mutex::default() }
    }

    /// Makes changes of existing records durable: they wait until the data is on the disk.
    pub(super) fn durable(self) -> Self {
        Self { is_durable: true, ..self }
    }

    /// Reads the file; a missing one has no records.
    ///
    /// Fails with [`io::ErrorKind::InvalidData`] if the file is damaged.
    pub(super) fn load(&self) -> io::Result<Arc<Records>> {
        let stamp = match fs::metadata(&self.path) {
            Ok(about) => FileStamp::of(&about),
            Err(error) if is_missing(&error) => return Ok(Arc::default()),
            Err(error) => return Err(error),
        };
        let mut last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, records)) = last_read.as_ref().filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(records));
        }
        let text = store::read(&self.path).map_err(into_io_error)?;
        let records = text.map_or_else(|| Some(Records::default()), Records::parse);
        let records = Arc::new(records.ok_or(io::ErrorKind::InvalidData)?);
        *last_read = Some((stamp, Arc::clone(&records)));
        Ok(records)
    }

    /// Reads the file, changes the records and writes them. Waits for other processes and for the
    /// disk. If the file cannot be read for another reason than damage, it is not changed.
    pub(super) fn change(
        &self,
        lock: &FolderLock<'_>,
        edit: impl FnOnce(&mut Records),
    ) -> io::Result<()> {
        lock.take()?;
        if cfg!(not(unix)) {
            // Without inodes, two versions of one moment and one length have the same stamp.
            *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.path.parent().into_iter().for_each(private_file::remove_leftovers);
        let mut records = match self.load() {
            Ok(records) => Records::clone(&records),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Records::after_damage(),
            Err(error) => return Err(error),
        };
        let had_records = !records.all.is_empty();
        edit(&mut records);
        let text = records.to_text()?;
        let written = if self.is_durable && had_records {
            private_file::write(&self.path, &text).map_err(into_io_error)
        } else {
            private_file::replace(&self.path, text.as_bytes())
        };
        // Without inodes, the stamp of the new file may equal that of the old one.
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = None;
        written
    }

    /// Removes the file and returns its records. The caller holds the lock of the folder.
    pub(super) fn clear(&self) -> io::Result<Arc<Records>> {
        let records = self.load().unwrap_or_default();
        match fs::remove_file(&self.path) {
            Err(error) if !is_missing(&error) => Err(error),
            _ => Ok(records),
        }
    }
}

impl Records {
    fn parse(text: String) -> Option<Self> {
        let whole = Json::parse(text).ok()?;
        let [version, seal, damaged, servers] =
            whole.get_all(["version", "seal", "damaged", "servers"]);
        let (version, servers) = (version?, servers?);
        let records = servers.members().filter(|_| version.as_str() == VERSION)?;
        let records = records.iter().map(|(key, value)| (key.to_owned(), servers.part(value)));
        Some(Self {
            seal: seal.and_then(|seal| seal.to_text()),
            damaged: damaged.and_then(|damaged| damaged.to()),
            all: records.collect(),
        })
    }

    /// Returns an empty set of records that notes the loss of earlier ones.
    pub(super) fn after_damage() -> Self {
        Self { damaged: Some(unix_seconds(SystemTime::now())), ..Self::default() }
    }

    /// Tells whether a missing record may have been lost.
    pub(super) fn may_have_lost_records(&self) -> bool {
        let age = |damaged| unix_seconds(SystemTime::now()).saturating_sub(damaged);
        self.damaged.is_some_and(|damaged| age(damaged) <= DAMAGE_MAX_AGE.as_secs())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.iter().find(|(own, _)| *own == key).map(|(_, record)| record)
    }

    /// Returns the records, the oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> {
        self.all.iter().map(|(key, record)| (key.as_str(), record))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a record as the newest and removes an earlier one with this key.
    pub(super) fn put(&mut self, key: &str, record: Json) {
        self.remove(key);
        self.all.push((key.to_owned(), record));
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.all.retain(|(own, _)| own != key);
    }

    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&Json) -> bool) {
        self.all.retain(|(_, record)| keeps(record));
    }

    /// Replaces the records for which `edit` returns a new one, the oldest first.
    pub(super) fn replace(&mut self, mut edit: impl FnMut(&Json) -> Option<Json>) {
        for (_, record) in &mut self.all {
            if let Some(other) = edit(record) {
                *record = other;
            }
        }
    }

    /// Removes the oldest records until at most `count` are left, with at most [`MAX_BYTES`].
    pub(super) fn keep_newest(&mut self, count: usize) {
        let mut bytes = self.bytes();
        let mut left = self.all.len();
        self.all.retain(|(key, record)| {
            let is_over = left > count || bytes > MAX_BYTES;
            if is_over {
                left -= 1;
                bytes -= key.len() + record.as_str().len();
            }
            !is_over
        });
    }

    /// Returns the size of the records in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.iter().map(|(key, record)| key.len() + record.as_str().len()).sum()
    }

    fn to_text(&self) -> io::Result<String> {
        let seal = self.seal.as_ref().map(|seal| format!(",\"seal\":\"{seal}\""));
        let damaged = self.damaged.map(|damaged| format!(",\"damaged\":{damaged}"));
        let (seal, damaged) = (seal.unwrap_or_default(), damaged.unwrap_or_default());
        let mut text = format!("{{\"version\":{VERSION}{seal}{damaged},\"servers\":{{");
        for (index, (key, record)) in self.iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { ",\n" });
            text.push_str(&serde_json::to_string(key)?);
            text.push(':');
            text.push_str(record.as_str());
        }
        text.push_str("\n}}");
        let fits = text.len() as u64 <= MAX_FILE_BYTES;
        if fits { Ok(text) } else { Err(io::ErrorKind::FileTooLarge.into()) }
    }
}

/// Returns the time of a number of seconds since 1970; an invalid time counts as 1970.
pub(super) fn time_at(seconds: u64) -> SystemTime {
    let since = Duration::from_secs(seconds);
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Identifies one version of a file: a replaced file has another stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: Option<u64>,
}

impl FileStamp {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = Some(std::os::unix::fs::MetadataExt::ino(about));
        #[cfg(not(unix))]
        let inode = None;
        Self { bytes: about.len(), modified: about.modified().ok(), inode }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn into_io_error(error: StoreError) -> io::Error {
    let is_damage = matches!(error.kind, StoreErrorKind::TooLarge | StoreErrorKind::NotUtf8 { .. });
    let kind = if is_damage { io::ErrorKind::InvalidData } else { io::ErrorKind::Other };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests {
    use super::super::folder_lock::LOCK_TIMEOUT;
    use super::*;

    fn put_all(file: &RecordFile, records: &[(&str, &str)]) {
        let lock = FolderLock::new(file.path.parent(), Duration::from_secs(60));
        let edit = |all: &mut Records| {
            for (key, record) in records {
                all.put(key, record.parse().unwrap());
            }
        };
        file.change(&lock, edit).unwrap();
    }

    /// Renders all records as `key=record`.
    fn render(file: &RecordFile) -> String {
        match file.load() {
            Ok(records) => {
                let rendered =
                    records.iter().map(|(key, record)| format!("{key}={}", record.as_str()));
                rendered.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.kind().to_string(),
        }
    }

    fn test_path() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/records.json");
        (folder, path)
    }

    #[test]
    fn records_are_read_back_with_the_newest_last() {
        let (_folder, path) = test_path();
        let file = RecordFile::new(path.clone());
        assert_eq!(render(&file), "");
        put_all(&file, &[("a", r#"{"x":1e400}"#), ("b\"", "\"zwölf\"")]);
        put_all(&file, &[("c", "{}"), ("a", "[]")]);
        for file in [&file, &RecordFile::new(path.clone())] {
            assert_eq!(render(file), "b\"=\"zwölf\" c={} a=[]");
        }
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {"version":1,"servers":{
        "b\"":"zwölf",
        "c":{},
        "a":[]
        }}
        "#);
        assert_eq!(file.clear().unwrap().all.len(), 3);
        assert_eq!(render(&file), "");
        assert!(file.clear().unwrap().is_empty());
    }

    #[test]
    fn the_oldest_records_are_removed_first() {
        let mut records = Records::default();
        let long = format!("\"{}\"", "x".repeat(MAX_BYTES / 2));
        for (key, record) in [("a", "1"), ("b", &long), ("c", "3"), ("d", &long), ("e", "5")] {
            records.put(key, record.parse().unwrap());
        }
        records.keep_newest(4);
        let keys = |records: &Records| records.iter().map(|(key, _)| key.to_owned()).collect();
        let kept: Vec<String> = keys(&records);
        assert_eq!(kept, ["c", "d", "e"]);
        records.keep_newest(1);
        let kept: Vec<String> = keys(&records);
        assert_eq!(kept, ["e"]);
    }

    #[test]
    fn twenty_writers_lose_no_record() {
        let (_folder, path) = test_path();
        std::thread::scope(|scope| {
            for writer in 0..20 {
                let file = RecordFile::new(path.clone());
                scope.spawn(move || {
                    for round in 0..5 {
                        put_all(&file, &[(&format!("{writer}/{round}"), "{}")]);
                    }
                });
            }
        });
        assert_eq!(RecordFile::new(path).load().unwrap().all.len(), 100);
    }

    #[test]
    fn damage_is_detected_and_recorded() {
        let (_folder, path) = test_path();
        let file = RecordFile::new(path.clone());
        put_all(&file, &[("a", "1"), ("b", "{}")]);
        let whole = fs::read_to_string(&path).unwrap();
        let other = whole.replace("\"version\":1", "\"version\":2");
        let cut = (0..whole.len()).map(|length| &whole[..length]);
        for text in cut.chain([&*other, "[]"]) {
            private_file::replace(&path, text.as_bytes()).unwrap();
            assert_eq!(render(&file), "invalid data", "{text}");
        }
        private_file::replace(&path, b"\xff\xff").unwrap();
        assert_eq!(render(&file), "invalid data");
        put_all(&file, &[("c", "3")]);
        assert_eq!(render(&file), "c=3");
        assert!(file.load().unwrap().may_have_lost_records());
        let whole = fs::read_to_string(&path).unwrap();
        let (_, rest) = whole.split_once("\"damaged\":").unwrap();
        let (damaged, _) = rest.split_once(',').unwrap();
        let long_ago = unix_seconds(SystemTime::now()) - DAMAGE_MAX_AGE.as_secs() - 60;
        let later = whole.replace(damaged, &long_ago.to_string());
        private_file::replace(&path, later.as_bytes()).unwrap();
        assert!(!file.load().unwrap().may_have_lost_records());
    }

    #[test]
    fn a_folder_in_place_of_the_file_is_neither_read_nor_replaced() {
        let (_folder, path) = test_path();
        fs::create_dir_all(&path).unwrap();
        let file = RecordFile::new(path.clone());
        let lock = FolderLock::new(path.parent(), LOCK_TIMEOUT);
        assert!(file.load().is_err() && file.change(&lock, |_| {}).is_err());
        assert!(path.is_dir());
    }
}
