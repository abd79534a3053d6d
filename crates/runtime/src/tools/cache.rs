//! The tools of servers as they were last listed, so that nobody waits for a server to be listed.
//!
//! One file per server, configuration and credential: a line about the entry, then the list as it
//! came. An entry only fills the time until the live list arrives; whatever is wrong with it makes it
//! a miss, and no approval or trust is ever taken from it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use wharf_config::{Secret, store};
use wharf_protocol::era::Revision;
use wharf_protocol::view::Tool;

use super::disk;
use super::keyed::{KeyedFolder, is_keyed};
use super::written;

const VERSION: u32 = 1;

/// How long an entry counts.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// How old an entry may be before it is written again although nothing has changed.
const RENEWED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// The most bytes of an entry, and of all together.
const MOST_BYTES: usize = 12 * 1024 * 1024;
const MOST_BYTES_IN_ALL: u64 = 128 * 1024 * 1024;

/// The most bytes of instructions that are kept.
const MOST_INSTRUCTIONS: usize = 64 * 1024;

/// How old a file must be that somebody seems to have left half written.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Forgets all tools that are remembered in a cache folder; returns of how many servers.
///
/// Names that were given to tools stay given.
pub fn clear_cache(folder: &Path) -> io::Result<usize> {
    ToolCache::open(Some(folder.to_path_buf())).clear()
}

/// The cache of one person.
#[derive(Debug)]
pub(crate) struct ToolCache {
    files: KeyedFolder,
}

/// Which entry is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CacheKey(Option<String>);

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedServer {
    /// The revision it spoke.
    pub(crate) revision: Option<Revision>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) instructions: Option<String>,
    pub(crate) saved: SystemTime,
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    /// Seconds since 1970.
    saved: u64,
    revision: Option<String>,
    instructions: Option<String>,
    /// The length of the list, so that a file which was cut is noticed.
    bytes: usize,
}

impl ToolCache {
    /// Uses a folder, or keeps nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        Self { files: KeyedFolder::new(folder) }
    }

    /// Returns the key of a server with this configuration and this credential.
    pub(crate) fn key(&self, server: &str, identity: &Secret, credential: &str) -> CacheKey {
        CacheKey(self.files.file(&["tools", server, identity.expose(), credential]))
    }

    /// Reads an entry; nothing if there is none that counts.
    pub(crate) fn load(&self, key: &CacheKey) -> Option<CachedServer> {
        let (header, body) = read(&self.path(key)?)?;
        let age = SystemTime::now().duration_since(header.saved()).unwrap_or_default();
        if age > KEPT {
            return None;
        }
        let (_, tools) = written::read(body)?;
        Some(CachedServer {
            revision: header.revision.as_ref().and_then(|revision| revision.parse().ok()),
            tools,
            saved: header.saved(),
            instructions: header.instructions,
        })
    }

    /// Writes an entry, unless it is there already; that it may fail is no matter.
    pub(crate) fn store(&self, key: &CacheKey, entry: &CachedServer) {
        let Some(path) = self.path(key) else { return };
        let length = written::length(&entry.tools);
        if length > MOST_BYTES {
            // What is there would be out of date.
            drop(fs::remove_file(&path));
            return;
        }
        let mut body = String::with_capacity(length + 16);
        body.push('{');
        written::write(&entry.tools, &mut body);
        body.push('}');
        let instructions = entry.instructions.clone();
        let header = Header {
            version: VERSION,
            saved: seconds(entry.saved),
            revision: entry.revision.map(|revision| revision.to_string()),
            instructions: instructions.filter(|text| text.len() <= MOST_INSTRUCTIONS),
            bytes: body.len(),
        };
        if read(&path).is_some_and(|(earlier, text)| header.is_covered_by(&earlier) && text == body)
        {
            return;
        }
        if let Ok(mut text) = serde_json::to_string(&header) {
            text.push('\n');
            text.push_str(&body);
            if let Err(error) = disk::put_fresh(&path, text.as_bytes()) {
                tracing::debug!(%error, "could not keep a list of tools");
            }
        }
    }

    /// Removes all entries; returns how many there were.
    fn clear(&self) -> io::Result<usize> {
        let mut count = 0;
        for file in self.files()? {
            fs::remove_file(&file.path)?;
            count += usize::from(!file.is_temporary);
        }
        Ok(count)
    }

    /// Removes entries that no longer count, and the oldest if there are too many.
    pub(crate) fn forget_old(&self) {
        let mut files = self.files().unwrap_or_default();
        files.sort_by_key(|file| file.age);
        let mut bytes = 0;
        for file in files {
            bytes += file.bytes;
            let limit = if file.is_temporary { LEFT_BEHIND } else { KEPT };
            if file.age > limit || bytes > MOST_BYTES_IN_ALL {
                drop(fs::remove_file(&file.path));
            }
        }
    }

    fn path(&self, key: &CacheKey) -> Option<PathBuf> {
        self.files.path(key.0.as_deref())
    }

    /// Goes through the files that are the cache's own; others in the folder are not touched.
    fn files(&self) -> io::Result<Vec<CacheFile>> {
        let Some(folder) = self.files.folder() else { return Ok(Vec::new()) };
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        Ok(entries.flatten().filter_map(|entry| CacheFile::of(&entry)).collect())
    }
}

/// A file of the cache.
struct CacheFile {
    path: PathBuf,
    age: Duration,
    bytes: u64,
    is_temporary: bool,
}

impl CacheFile {
    fn of(entry: &fs::DirEntry) -> Option<Self> {
        let name = entry.file_name().into_string().ok()?;
        let is_temporary = name.starts_with('.') && name.ends_with(disk::TEMPORARY);
        if !is_temporary && !is_keyed(&name) {
            return None;
        }
        let about = entry.metadata().ok()?;
        let age = about.modified().ok()?.elapsed().unwrap_or_default();
        Some(Self { path: entry.path(), age, bytes: about.len(), is_temporary })
    }
}

impl Header {
    fn saved(&self) -> SystemTime {
        // A time that no clock shows counts as long ago.
        let since = Duration::from_secs(self.saved);
        SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Tells whether writing this one would change nothing worth it.
    fn is_covered_by(&self, earlier: &Self) -> bool {
        let is_recent = self.saved.abs_diff(earlier.saved) < RENEWED_AFTER.as_secs();
        is_recent
            && (&self.revision, &self.instructions) == (&earlier.revision, &earlier.instructions)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Reads a file and takes it apart; nothing if it is not whole.
fn read(path: &Path) -> Option<(Header, ByteString)> {
    let text = ByteString::from(store::read(path).ok()??);
    let (line, body) = text.split_once('\n')?;
    let header: Header = serde_json::from_str(line).ok()?;
    let is_whole = header.version == VERSION && header.bytes == body.len();
    is_whole.then(|| (header, text.slice_ref(body)))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use wharf_protocol::view::Page;

    use super::*;

    const LIST: &str =
        r#"{"tools":[{"name":"b","inputSchema":{"maximum":1e400}},{"name":"a","x":"\n"}]}"#;

    fn entry() -> CachedServer {
        let page: Page<Tool> = Page::read(&LIST.parse().unwrap());
        CachedServer {
            revision: Some(Revision::LATEST),
            tools: page.items,
            instructions: Some("first\nthen".to_owned()),
            saved: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds(SystemTime::now())),
        }
    }

    struct Place {
        folder: tempfile::TempDir,
        cache: ToolCache,
        key: CacheKey,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = ToolCache::open(Some(folder.path().join("cache")));
            let key = cache.key("server", &Secret::new("identity"), "");
            Self { folder, cache, key }
        }

        fn path(&self) -> PathBuf {
            self.cache.path(&self.key).unwrap()
        }
    }

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let place = Place::new();
        assert_eq!(place.cache.load(&place.key), None);
        place.cache.store(&place.key, &entry());
        assert_eq!(place.cache.load(&place.key), Some(entry()));
        let again = ToolCache::open(Some(place.folder.path().join("cache")));
        assert_eq!(again.load(&again.key("server", &Secret::new("identity"), "")), Some(entry()));
    }

    #[test]
    fn another_configuration_credential_or_server_is_a_miss() {
        let place = Place::new();
        place.cache.store(&place.key, &entry());
        for (server, identity, credential) in
            [("server", "other", ""), ("server", "identity", "me"), ("servers", "identity", "")]
        {
            let key = place.cache.key(server, &Secret::new(identity), credential);
            assert_eq!(place.cache.load(&key), None, "{server} {identity} {credential}");
        }
    }

    #[test]
    fn an_entry_that_was_cut_or_changed_is_a_miss() {
        let place = Place::new();
        place.cache.store(&place.key, &entry());
        let whole = fs::read(place.path()).unwrap();
        for length in 0..whole.len() {
            disk::put(&place.path(), &whole[..length]).unwrap();
            assert_eq!(place.cache.load(&place.key), None, "{length}");
        }
        let text = String::from_utf8(whole).unwrap();
        for (from, to) in [
            (r#""version":1"#, r#""version":2"#),
            (r#"{"tools":["#, r#"{"fools":["#),
            (r#""name":"b""#, r#""game":"b""#),
            ("1e400", "1e4 0"),
        ] {
            assert!(text.contains(from));
            disk::put(&place.path(), text.replace(from, to).as_bytes()).unwrap();
            assert_eq!(place.cache.load(&place.key), None, "{to}");
        }
        place.cache.store(&place.key, &entry());
        assert_eq!(place.cache.load(&place.key), Some(entry()));
    }

    #[test]
    fn an_entry_counts_for_thirty_days() {
        let place = Place::new();
        for (days, counts) in [(29, true), (31, false)] {
            let saved = entry().saved - Duration::from_secs(24 * 3600 * days);
            place.cache.store(&place.key, &CachedServer { saved, ..entry() });
            assert_eq!(place.cache.load(&place.key).is_some(), counts, "{days}");
        }
    }

    #[test]
    fn an_entry_is_written_again_only_if_that_changes_something() {
        let place = Place::new();
        place.cache.store(&place.key, &entry());
        let hours = |hours: u64| entry().saved + Duration::from_secs(3600 * hours);
        place.cache.store(&place.key, &CachedServer { saved: hours(1), ..entry() });
        assert_eq!(place.cache.load(&place.key), Some(entry()));
        let more = CachedServer { saved: hours(1), instructions: None, ..entry() };
        place.cache.store(&place.key, &more);
        assert_eq!(place.cache.load(&place.key), Some(more));
        let later = CachedServer { saved: hours(26), instructions: None, ..entry() };
        place.cache.store(&place.key, &later);
        assert_eq!(place.cache.load(&place.key), Some(later));
    }

    #[test]
    fn clearing_removes_entries_and_nothing_else() {
        let place = Place::new();
        place.cache.store(&place.key, &entry());
        let beside = place.path().with_file_name("names.json");
        disk::put(&beside, b"{}").unwrap();
        place.cache.forget_old();
        assert!(place.cache.load(&place.key).is_some());
        assert_eq!(place.cache.clear().unwrap(), 1);
        assert_eq!(place.cache.load(&place.key), None);
        assert!(beside.exists());
        assert_eq!(place.cache.clear().unwrap(), 0);
    }

    #[test]
    fn old_entries_and_half_written_files_are_forgotten() {
        let place = Place::new();
        place.cache.store(&place.key, &entry());
        let half = place.path().with_file_name(format!(".x{}", disk::TEMPORARY));
        disk::put(&half, b"").unwrap();
        let age = |path: &Path, age: Duration| {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        };
        age(&place.path(), KEPT.saturating_sub(LEFT_BEHIND));
        age(&half, LEFT_BEHIND * 2);
        place.cache.forget_old();
        assert!(place.path().exists() && !half.exists());
        age(&place.path(), KEPT + LEFT_BEHIND);
        place.cache.forget_old();
        assert!(!place.path().exists());
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let cache = ToolCache::open(None);
        let key = cache.key("server", &Secret::new("identity"), "");
        cache.store(&key, &entry());
        assert_eq!(cache.load(&key), None);
        assert_eq!(cache.clear().unwrap(), 0);
        cache.forget_old();
    }
}
