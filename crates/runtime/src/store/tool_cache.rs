//! The tools of servers as they were last listed, so that nobody waits for a server to be listed.
//!
//! One entry per server, configuration, credential and what the client declares that it can do (a server
//! may offer other tools to a client that can ask the person): a line about it, then the list as it
//! came. An entry only fills the time until the live list arrives; whatever is wrong with it makes it a miss,
//! and no approval or trust is ever taken from it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wharf_config::Secret;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::Cut;
use wharf_protocol::view::{ClientCapabilities, Tool};

use super::attempts;
use super::files::{LOCK_WAIT, Turn};
use super::keys::KeyedFolder;
use super::pack::{About, Change, Found, Pack, Put, seconds};
use super::written::{self, Pieces};

const VERSION: u32 = 1;

/// How long an entry counts.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// How old an entry may be before it is written again although nothing has changed.
const RENEWED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// The most bytes of an entry, and of all together.
const MOST_BYTES: usize = 12 * 1024 * 1024;
const MOST_BYTES_IN_ALL: u64 = 64 * 1024 * 1024;

/// The most bytes of instructions that are kept.
const MOST_INSTRUCTIONS: usize = 64 * 1024;

/// Forgets what is remembered of servers in a cache folder: their tools, and how the last attempts to
/// connect ended; returns of how many servers.
///
/// Names that were given to tools stay given.
pub fn clear_cache(folder: &Path) -> io::Result<usize> {
    if !folder.exists() {
        return Ok(0);
    }
    // Whoever is writing has the old file open and would bring it back.
    let turn = Turn::new(Some(folder), LOCK_WAIT);
    turn.take()?;
    let pack = Pack::new(folder.join(FILE));
    let attempts = attempts::clear(folder)?;
    let mut servers: HashSet<String> = attempts.into_iter().collect();
    servers.extend(pack.clear()?.iter().map(|key| server_of(key).to_owned()));
    Ok(servers.len())
}

/// Stands between the key of a server and what tells clients apart.
const BEFORE_CLIENT: char = '-';

/// Returns the key of the server that an entry is about.
fn server_of(entry: &str) -> &str {
    entry.split(BEFORE_CLIENT).next().unwrap_or(entry)
}

/// The file in the cache folder.
const FILE: &str = "tools.pack";

/// The cache of one person.
#[derive(Debug)]
pub(crate) struct ToolCache {
    keys: KeyedFolder,
    pack: Option<Pack>,
    /// Tells lists apart that the same server gives to different clients.
    client: String,
}

/// Which server is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CacheKey(Option<String>);

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedServer {
    /// The revision it spoke.
    pub(crate) revision: Option<Revision>,
    pub(crate) tools: Arc<[Tool]>,
    /// Why these are not all.
    pub(crate) cut: Option<Cut>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    /// The length of the list, so that a file which was cut is noticed.
    bytes: usize,
}

impl CacheKey {
    /// Returns the key as a text that gives nothing away; none if nothing is kept.
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl ToolCache {
    /// Uses a folder, or keeps nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        let pack = folder.as_ref().map(|folder| Pack::new(folder.join(FILE)));
        Self { keys: KeyedFolder::new(folder), pack, client: String::new() }
    }

    /// Reads and writes what servers offer to a client that declares this.
    #[must_use]
    pub(crate) fn for_client(self, declared: &ClientCapabilities) -> Self {
        let hash = Sha256::digest(format!("{declared:?}"));
        let client = hash.iter().take(4).fold(String::new(), |mut client, byte| {
            let _infallible = write!(client, "{byte:02x}");
            client
        });
        Self { client, ..self }
    }

    /// Uses a folder as it is, to look only: nothing is made, and without a key nothing is found.
    pub(crate) fn look_into(folder: &Path) -> Self {
        let pack = Some(Pack::new(folder.join(FILE)));
        Self { keys: KeyedFolder::as_it_is(folder), pack, client: String::new() }
    }

    /// Tells whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        !self.pack.as_ref().is_some_and(|pack| pack.has(|_| true))
    }

    /// Returns the key of a server with this configuration and this credential.
    pub(crate) fn key(&self, server: &str, identity: &Secret, credential: &str) -> CacheKey {
        CacheKey(self.keys.name(&["tools", server, identity.expose(), credential]))
    }

    /// Reads an entry; nothing if there is none that counts.
    pub(crate) fn load(&self, key: &CacheKey) -> Option<CachedServer> {
        self.load_entry(&self.entry(key)?)
    }

    /// Reads the newest entry of a server, whichever client it was for.
    pub(crate) fn load_newest(&self, key: &CacheKey) -> Option<CachedServer> {
        let key = key.0.as_deref()?;
        let about = self.pack.as_ref()?.newest(|about| server_of(about.key()) == key)?;
        self.load_entry(about.key())
    }

    fn load_entry(&self, entry: &str) -> Option<CachedServer> {
        let (header, body) = self.read(entry)?;
        let age = SystemTime::now().duration_since(header.saved()).unwrap_or_default();
        if age > KEPT {
            return None;
        }
        let (_, tools) = written::read(body)?;
        Some(CachedServer {
            revision: header.revision.as_ref().and_then(|revision| revision.parse().ok()),
            tools: tools.into(),
            cut: header.cut,
            saved: header.saved(),
            instructions: header.instructions,
        })
    }

    /// Returns how many tools a server had when it was last listed for any client, without reading
    /// them.
    pub(crate) fn count(&self, key: &CacheKey) -> Option<usize> {
        let key = key.0.as_deref()?;
        let about = self.pack.as_ref()?.newest(|about| server_of(about.key()) == key)?;
        (about.age() <= KEPT).then_some(about.count)
    }

    /// Writes entries, unless they are there already, and forgets those that no longer count and the
    /// oldest if there are too many. That it may fail is no matter.
    pub(crate) fn store(&self, turn: &Turn<'_>, entries: &[(CacheKey, CachedServer)]) {
        let Some(pack) = &self.pack else { return };
        let (short, long): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, entry)| written::length(&entry.tools) <= MOST_BYTES);
        let puts: Vec<Put> = short.iter().filter_map(|(key, entry)| self.put(key, entry)).collect();
        // What is there of a list that has become too long would be out of date.
        let is_outdated = |about: &About| {
            long.iter().any(|(key, _)| self.entry(key).as_deref() == Some(about.key()))
        };
        if puts.is_empty() && (long.is_empty() || !pack.has(is_outdated)) {
            return;
        }
        let new: u64 = puts.iter().map(|put| put.text.len() as u64).sum();
        let changed = pack.change(turn, None, |now| {
            let all: u64 = now.texts().iter().map(|text| text.bytes).sum();
            let mut over = (all + new).saturating_sub(MOST_BYTES_IN_ALL);
            let mut goes = |about: &&About| {
                let is_over = over > 0;
                over = over.saturating_sub(about.bytes);
                is_over || about.age() > KEPT || is_outdated(about)
            };
            let gone = now.texts().iter().filter(|text| goes(text));
            Change { gone: gone.map(|text| text.key().to_owned()).collect(), puts }
        });
        if let Err(error) = changed {
            tracing::debug!(%error, "could not keep lists of tools");
        }
    }

    /// Returns under which key the list of a server for this client is kept.
    fn entry(&self, key: &CacheKey) -> Option<String> {
        Some(format!("{}{BEFORE_CLIENT}{}", key.0.as_deref()?, self.client))
    }

    /// Words an entry; nothing if it is there already.
    fn put(&self, key: &CacheKey, entry: &CachedServer) -> Option<Put> {
        let key_text = self.entry(key)?;
        let mut body = Pieces::default();
        body.push(ByteString::from_static("{"));
        written::write(&*entry.tools, &mut body);
        body.push(ByteString::from_static("}"));
        let instructions = entry.instructions.clone();
        let header = Header {
            version: VERSION,
            saved: seconds(entry.saved),
            revision: entry.revision.map(|revision| revision.to_string()),
            instructions: instructions.filter(|text| text.len() <= MOST_INSTRUCTIONS),
            cut: entry.cut,
            bytes: body.len(),
        };
        let is_covered = |(earlier, text): (Header, ByteString)| {
            header.is_covered_by(&earlier) && body.is(&text)
        };
        if self.read(&key_text).is_some_and(is_covered) {
            return None;
        }
        let text = body.led_by(serde_json::to_string(&header).ok()?);
        Some(Put { key: key_text, saved: entry.saved, count: entry.tools.len(), text })
    }

    /// Reads an entry and takes it apart; nothing if it is not whole.
    fn read(&self, entry: &str) -> Option<(Header, ByteString)> {
        let Found::Text(text) = self.pack.as_ref()?.get(None, entry) else { return None };
        let (line, body) = text.split_once('\n')?;
        let header: Header = serde_json::from_str(line).ok()?;
        let is_whole = header.version == VERSION && header.bytes == body.len();
        is_whole.then(|| (header, text.slice_ref(body)))
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
            && (&self.revision, &self.instructions, self.cut)
                == (&earlier.revision, &earlier.instructions, earlier.cut)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::time::SystemTime;

    use wharf_protocol::view::Page;
    use wharf_protocol::view::send::ElicitationSupport;

    use super::super::files;
    use super::*;

    const LIST: &str =
        r#"{"tools":[{"name":"b","inputSchema":{"maximum":1e400}},{"name":"a","x":"\n"}]}"#;

    /// One moment for all, in whole seconds as in the file: tests take longer than that.
    static NOW: LazyLock<SystemTime> =
        LazyLock::new(|| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds(SystemTime::now())));

    fn entry() -> CachedServer {
        let page: Page<Tool> = Page::read(&LIST.parse().unwrap());
        CachedServer {
            revision: Some(Revision::LATEST),
            tools: page.items.into(),
            cut: Some(Cut::Entries(2)),
            instructions: Some("first\nthen".to_owned()),
            saved: *NOW,
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

        fn store(&self, entry: CachedServer) {
            self.store_all(&[(self.key.clone(), entry)]);
        }

        fn store_all(&self, entries: &[(CacheKey, CachedServer)]) {
            let folder = self.folder.path().join("cache");
            self.cache.store(&Turn::new(Some(&folder), LOCK_WAIT), entries);
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("cache").join(FILE)
        }
    }

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let place = Place::new();
        assert_eq!(place.cache.load(&place.key), None);
        place.store(entry());
        assert_eq!(place.cache.load(&place.key), Some(entry()));
        let again = ToolCache::open(Some(place.folder.path().join("cache")));
        assert_eq!(again.load(&again.key("server", &Secret::new("identity"), "")), Some(entry()));
    }

    #[test]
    fn another_configuration_credential_or_server_is_a_miss() {
        let place = Place::new();
        place.store(entry());
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
        place.store(entry());
        let whole = std::fs::read(place.path()).unwrap();
        for length in 0..whole.len() {
            files::put(&place.path(), &whole[..length]).unwrap();
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
            files::put(&place.path(), text.replace(from, to).as_bytes()).unwrap();
            assert_eq!(place.cache.load(&place.key), None, "{to}");
        }
        place.store(entry());
        assert_eq!(place.cache.load(&place.key), Some(entry()));
    }

    #[test]
    fn an_entry_counts_for_thirty_days() {
        let place = Place::new();
        for (days, counts) in [(29, true), (31, false)] {
            let saved = entry().saved - Duration::from_secs(24 * 3600 * days);
            place.store(CachedServer { saved, ..entry() });
            assert_eq!(place.cache.load(&place.key).is_some(), counts, "{days}");
        }
    }

    #[test]
    fn an_entry_is_written_again_only_if_that_changes_something() {
        let place = Place::new();
        place.store(entry());
        let hours = |hours: u64| entry().saved + Duration::from_secs(3600 * hours);
        place.store(CachedServer { saved: hours(1), ..entry() });
        assert_eq!(place.cache.load(&place.key), Some(entry()));
        let more = CachedServer { saved: hours(1), instructions: None, ..entry() };
        place.store(more.clone());
        assert_eq!(place.cache.load(&place.key), Some(more));
        let later = CachedServer { saved: hours(26), instructions: None, ..entry() };
        place.store(later.clone());
        assert_eq!(place.cache.load(&place.key), Some(later));
    }

    #[test]
    fn clearing_removes_entries_and_nothing_else() {
        let place = Place::new();
        place.store(entry());
        let folder = place.folder.path().join("cache");
        let beside = folder.join("names.json");
        files::put(&beside, b"{}").unwrap();
        assert_eq!(clear_cache(&folder).unwrap(), 1);
        assert_eq!(place.cache.load(&place.key), None);
        assert!(beside.exists());
        assert_eq!(clear_cache(&folder).unwrap(), 0);
    }

    #[test]
    fn clearing_waits_for_whoever_is_writing() {
        let place = Place::new();
        place.store(entry());
        let folder = place.folder.path().join("cache");
        let held = Turn::new(Some(&folder), LOCK_WAIT);
        held.take().unwrap();
        assert!(clear_cache(&folder).is_err(), "a writer would bring back what it has read");
        assert_eq!(place.cache.load(&place.key), Some(entry()));
        drop(held);
        assert_eq!(clear_cache(&folder).unwrap(), 1);
    }

    #[test]
    fn entries_that_no_longer_count_are_forgotten_when_others_are_written() {
        let place = Place::new();
        let old = place.cache.key("old", &Secret::new("identity"), "");
        let saved = entry().saved - KEPT - Duration::from_secs(60);
        place.store_all(&[(old, CachedServer { saved, ..entry() })]);
        place.store(entry());
        assert_eq!(clear_cache(&place.folder.path().join("cache")).unwrap(), 1);
    }

    #[test]
    fn a_list_that_is_too_long_is_not_kept_and_neither_is_what_it_was() {
        let place = Place::new();
        place.store(entry());
        assert_eq!(place.cache.count(&place.key), Some(2));
        let long = format!(r#"{{"tools":[{{"name":"{}"}}]}}"#, "x".repeat(MOST_BYTES));
        let page: Page<Tool> = Page::read(&long.parse().unwrap());
        place.store(CachedServer { tools: page.items.into(), ..entry() });
        assert_eq!(place.cache.load(&place.key), None);
        assert_eq!(place.cache.count(&place.key), None);
    }

    #[test]
    fn clients_that_can_do_different_things_have_lists_of_their_own() {
        let place = Place::new();
        let folder = place.folder.path().join("cache");
        let declared = ClientCapabilities {
            elicitation: Some(ElicitationSupport { form: true, url: false }),
            ..ClientCapabilities::default()
        };
        let other = ToolCache::open(Some(folder.clone())).for_client(&declared);
        place.store(entry());
        assert_eq!(other.load(&place.key), None);
        assert_eq!(other.count(&place.key), Some(2));
        let short: Arc<[Tool]> = entry().tools.iter().take(1).cloned().collect();
        let turn = Turn::new(Some(&folder), LOCK_WAIT);
        other.store(&turn, &[(place.key.clone(), CachedServer { tools: short, ..entry() })]);
        drop(turn);
        assert_eq!(other.load(&place.key).unwrap().tools.len(), 1);
        assert_eq!(place.cache.load(&place.key).unwrap().tools.len(), 2);
        assert_eq!(place.cache.count(&place.key), Some(1), "the newest list counts");
        assert_eq!(clear_cache(&folder).unwrap(), 1, "it is one server");
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let cache = ToolCache::open(None);
        let key = cache.key("server", &Secret::new("identity"), "");
        cache.store(&Turn::new(None, LOCK_WAIT), &[(key.clone(), entry())]);
        assert_eq!((cache.load(&key), cache.count(&key)), (None, None));
    }
}
