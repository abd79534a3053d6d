//! The tool cache, `cache/tools.json`: the tools that servers listed last.
//!
//! There is one record per server, configuration, credential and declared client capabilities,
//! because a server may list other tools for a client that supports elicitation. A record is used
//! until the live list arrives; a malformed one is a miss. It never grants approval or trust.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wharf_config::store::private_file::hex;
use wharf_config::time::unix_seconds;
use wharf_protocol::Json;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::ListCut;
use wharf_protocol::view::{ClientCapabilities, ListPage, ToolDefinition};

use super::attempts;
use super::folder_lock::{FolderLock, LOCK_TIMEOUT};
use super::record_file::{MAX_AGE, RecordFile, Records, time_at};
use super::record_keys::{RecordKey, RecordKeys};
use super::server_identity::ServerIdentity;

/// The file in the cache folder.
pub(super) const FILE: &str = "tools.json";

/// An unchanged record is rewritten only if the stored one is older than this.
const REWRITE_AFTER: Duration = Duration::from_secs(24 * 3600);

/// The maximum number of records, and the maximum size of the tools and of the instructions of
/// one.
const MAX_RECORDS: usize = 10_000;
const MAX_BYTES: usize = 8 << 20;
const MAX_INSTRUCTIONS: usize = 64 << 10;

/// Separates the hash of a server from the hash of the client's capabilities in a key.
const CLIENT_SEPARATOR: char = '-';

/// Removes the cached tools and the last attempts from a cache folder; returns the number of
/// servers.
///
/// The names of tools are kept, so that no name is assigned to another tool.
pub fn clear_cache(folder: &Path) -> io::Result<usize> {
    if !folder.exists() {
        return Ok(0);
    }
    // Another process that is writing would restore the records that it has read.
    let lock = FolderLock::new(Some(folder), LOCK_TIMEOUT);
    lock.take()?;
    let cleared = [FILE, attempts::FILE].map(|file| RecordFile::new(folder.join(file)).clear());
    let mut servers = HashSet::new();
    for records in cleared {
        servers.extend(records?.iter().map(|(key, _)| server_of(key).to_owned()));
    }
    Ok(servers.len())
}

/// Returns the hash of the server in a key.
fn server_of(key: &str) -> &str {
    key.split(CLIENT_SEPARATOR).next().unwrap_or(key)
}

/// The tool cache; without a folder nothing is stored.
#[derive(Debug)]
pub(crate) struct ToolCache {
    keys: RecordKeys,
    file: Option<RecordFile>,
    /// A hash of the client's capabilities.
    client: String,
}

/// The cached data of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedServer {
    /// The revision it spoke.
    pub(crate) revision: Option<Revision>,
    pub(crate) tools: Arc<[ToolDefinition]>,
    /// Why the list is incomplete, if it was cut.
    pub(crate) cut: Option<ListCut>,
    pub(crate) instructions: Option<String>,
    pub(crate) saved: SystemTime,
}

/// The format of a record. The tools are read by [`ListPage`].
#[derive(Debug, Serialize, Deserialize)]
struct CacheRecord {
    server: String,
    /// Seconds since 1970.
    saved: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<ListCut>,
    #[serde(skip_deserializing)]
    tools: Vec<Json>,
}

impl ToolCache {
    /// Uses a folder; without one nothing is stored. Nothing is read or created yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        let file = folder.as_ref().map(|folder| RecordFile::new(folder.join(FILE)));
        Self { keys: RecordKeys::new(folder), file, client: String::new() }
    }

    /// Uses a folder only for reading: creates nothing in it.
    pub(crate) fn read_only(folder: &Path) -> Self {
        let file = Some(RecordFile::new(folder.join(FILE)));
        Self { keys: RecordKeys::read_only(folder), file, client: String::new() }
    }

    /// Uses the lists for a client with these capabilities.
    #[must_use]
    pub(crate) fn for_client(self, declared: &ClientCapabilities) -> Self {
        let hash = Sha256::digest(format!("{declared:?}"));
        Self { client: hex(&hash[..4]), ..self }
    }

    /// Tells whether there are no records.
    pub(crate) fn is_empty(&self) -> bool {
        self.records().is_empty()
    }

    /// Returns the key of a server.
    pub(crate) fn key(&self, server: &ServerIdentity<'_>) -> RecordKey {
        self.keys.key("tools", server)
    }

    /// Reads what a server listed for this client; `None` without a valid record.
    pub(crate) fn load(&self, key: &RecordKey) -> Option<CachedServer> {
        CachedServer::read(self.records().get(&self.record_key(key)?)?)
    }

    /// Reads what a server last listed for any client.
    pub(crate) fn load_newest(&self, key: &RecordKey) -> Option<CachedServer> {
        CachedServer::read(&self.newest(key)?)
    }

    /// Returns how many tools a server last listed for any client.
    pub(crate) fn count(&self, key: &RecordKey) -> Option<usize> {
        let record = self.newest(key)?;
        if is_old(&record) { None } else { count(&record) }
    }

    /// Writes records that differ from the stored ones, and removes those that are too old or too
    /// many. An error is only logged.
    pub(crate) fn store(&self, lock: &FolderLock<'_>, servers: &[(RecordKey, CachedServer)]) {
        let Some(file) = self.file.as_ref().filter(|_| !servers.is_empty()) else { return };
        let keyed = servers.iter().filter_map(|(key, server)| {
            Some((self.record_key(key)?, server.to_record(&key.server)))
        });
        let known = self.records();
        let changed = keyed.filter(|(key, record)| match (known.get(key), record) {
            (Some(earlier), Some(record)) => !is_redundant(record, earlier),
            (earlier, record) => earlier.is_some() || record.is_some(),
        });
        let changed: Vec<(String, Option<Json>)> = changed.collect();
        if changed.is_empty() {
            return;
        }
        let written = file.change(lock, |records| {
            for (key, record) in changed {
                match record {
                    Some(record) => records.put(&key, record),
                    // The list has become too long, so its earlier record is outdated.
                    None => records.remove(&key),
                }
            }
            records.retain(|record| !is_old(record));
            records.keep_newest(MAX_RECORDS);
        });
        if let Err(error) = written {
            tracing::debug!(%error, "could not cache tools");
        }
    }

    fn record_key(&self, key: &RecordKey) -> Option<String> {
        Some(format!("{}{CLIENT_SEPARATOR}{}", key.hash.as_deref()?, self.client))
    }

    fn records(&self) -> Arc<Records> {
        self.file.as_ref().and_then(|file| file.load().ok()).unwrap_or_default()
    }

    fn newest(&self, key: &RecordKey) -> Option<Json> {
        let (records, hash) = (self.records(), key.hash.as_deref()?);
        let newest = records.iter().rev().find(|(own, _)| server_of(own) == hash);
        newest.map(|(_, record)| record.clone())
    }
}

impl CachedServer {
    /// Reads a record; `None` if it is malformed or too old.
    fn read(record: &Json) -> Option<Self> {
        let cached: CacheRecord = record.to()?;
        let page: ListPage<ToolDefinition> = ListPage::read(record);
        let is_whole = page.rejected.is_empty() && page.violations.is_empty();
        if !is_whole || !record.has("tools") || is_old(record) {
            return None;
        }
        Some(Self {
            revision: cached.revision.and_then(|revision| revision.parse().ok()),
            tools: page.items.into(),
            cut: cached.cut,
            instructions: cached.instructions,
            saved: time_at(cached.saved),
        })
    }

    /// Returns the record of a server; `None` if its tools are too large.
    fn to_record(&self, server: &str) -> Option<Json> {
        let bytes: usize = self.tools.iter().map(|tool| tool.raw().as_str().len()).sum();
        if bytes > MAX_BYTES {
            return None;
        }
        let instructions = self.instructions.clone();
        let record = CacheRecord {
            server: server.to_owned(),
            saved: unix_seconds(self.saved),
            revision: self.revision.map(|revision| revision.to_string()),
            instructions: instructions.filter(|text| text.len() <= MAX_INSTRUCTIONS),
            cut: self.cut,
            tools: self.tools.iter().map(with_name).collect::<Option<_>>()?,
        };
        Json::encode(&record).ok()
    }
}

/// Returns the number of tools in a record.
pub(super) fn count(record: &Json) -> Option<usize> {
    Some(record.get("tools")?.items()?.len())
}

fn saved(record: &Json) -> Option<u64> {
    record.get("saved")?.to()
}

fn is_old(record: &Json) -> bool {
    let age = |saved| unix_seconds(SystemTime::now()).saturating_sub(saved);
    saved(record).is_none_or(|saved| age(saved) > MAX_AGE.as_secs())
}

/// Tells whether a record need not be written: it differs from the earlier one only in its time,
/// by less than [`REWRITE_AFTER`].
fn is_redundant(record: &Json, earlier: &Json) -> bool {
    const SAID: [&str; 4] = ["revision", "instructions", "cut", "tools"];
    let (Some(now), Some(then)) = (saved(record), saved(earlier)) else { return false };
    now.abs_diff(then) < REWRITE_AFTER.as_secs() && record.get_all(SAID) == earlier.get_all(SAID)
}

/// Returns the tool unchanged. A few servers list tools as an object from name to tool; such a
/// tool gets its name here.
fn with_name(tool: &ToolDefinition) -> Option<Json> {
    let rest = tool.raw().as_str().strip_prefix('{');
    let Some(rest) = rest.filter(|_| !tool.raw().has("name")) else {
        return Some(tool.raw().clone());
    };
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    let name = serde_json::to_string::<str>(tool.name()).ok()?;
    Json::parse(format!("{{\"name\":{name}{comma}{rest}")).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::time::SystemTime;

    use wharf_config::Secret;
    use wharf_config::store::private_file;
    use wharf_protocol::view::send::ElicitationSupport;

    use super::*;

    const LIST: &str =
        r#"{"tools":[{"name":"b","inputSchema":{"maximum":1e400}},{"name":"a","x":"\n"}]}"#;

    /// The same time for all entries of a test, in whole seconds as in the file.
    static NOW: LazyLock<SystemTime> = LazyLock::new(|| {
        SystemTime::UNIX_EPOCH + Duration::from_secs(unix_seconds(SystemTime::now()))
    });

    fn entry() -> CachedServer {
        let page: ListPage<ToolDefinition> = ListPage::read(&LIST.parse().unwrap());
        CachedServer {
            revision: Some(Revision::LATEST),
            tools: page.items.into(),
            cut: Some(ListCut::Entries(2)),
            instructions: Some("first\nthen".to_owned()),
            saved: *NOW,
        }
    }

    fn server<'a>(name: &'a str, configuration: &str, credential: &str) -> ServerIdentity<'a> {
        let configuration = Secret::new(configuration);
        ServerIdentity { name, configuration, credential: credential.to_owned(), is_lasting: true }
    }

    struct TestCache {
        folder: tempfile::TempDir,
        cache: ToolCache,
        key: RecordKey,
    }

    impl TestCache {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = ToolCache::open(Some(folder.path().join("cache")));
            let key = cache.key(&server("server", "identity", ""));
            Self { folder, cache, key }
        }

        fn store(&self, entry: CachedServer) {
            self.store_all(&[(self.key.clone(), entry)]);
        }

        fn store_all(&self, entries: &[(RecordKey, CachedServer)]) {
            let folder = self.folder.path().join("cache");
            self.cache.store(&FolderLock::new(Some(&folder), LOCK_TIMEOUT), entries);
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("cache").join(FILE)
        }
    }

    #[test]
    fn a_tool_that_is_named_by_its_object_key_keeps_its_name() {
        let test_cache = TestCache::new();
        let page: ListPage<ToolDefinition> =
            ListPage::read(&r#"{"tools":{"a":{"title":"A"},"b\"":{ }}}"#.parse().unwrap());
        test_cache.store(CachedServer { tools: page.items.into(), ..entry() });
        let tools = test_cache.cache.load(&test_cache.key).unwrap().tools;
        let names: Vec<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        assert_eq!(names, ["a", "b\""]);
        assert_eq!(tools[0].title().unwrap(), "A");
    }

    #[test]
    fn an_entry_is_read_back_unchanged() {
        let test_cache = TestCache::new();
        assert_eq!(test_cache.cache.load(&test_cache.key), None);
        test_cache.store(entry());
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(entry()));
        let again = ToolCache::open(Some(test_cache.folder.path().join("cache")));
        assert_eq!(again.load(&again.key(&server("server", "identity", ""))), Some(entry()));
    }

    #[test]
    fn another_configuration_credential_or_server_is_a_miss() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        for (name, configuration, credential) in
            [("server", "other", ""), ("server", "identity", "me"), ("servers", "identity", "")]
        {
            let key = test_cache.cache.key(&server(name, configuration, credential));
            assert_eq!(test_cache.cache.load(&key), None, "{name} {configuration} {credential}");
        }
    }

    #[test]
    fn a_truncated_or_changed_entry_is_a_miss() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        let whole = std::fs::read(test_cache.path()).unwrap();
        for length in 0..whole.len() {
            private_file::replace(&test_cache.path(), &whole[..length]).unwrap();
            assert_eq!(test_cache.cache.load(&test_cache.key), None, "{length}");
        }
        let text = String::from_utf8(whole).unwrap();
        for (from, to) in [
            (r#""version":1"#, r#""version":2"#),
            (r#""tools":["#, r#""fools":["#),
            (r#""name":"b""#, r#""game":"b""#),
            ("1e400", "1e4 0"),
        ] {
            assert!(text.contains(from));
            private_file::replace(&test_cache.path(), text.replace(from, to).as_bytes()).unwrap();
            assert_eq!(test_cache.cache.load(&test_cache.key), None, "{to}");
        }
        test_cache.store(entry());
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(entry()));
    }

    #[test]
    fn an_entry_expires_after_thirty_days() {
        let test_cache = TestCache::new();
        for (days, counts) in [(29, true), (31, false)] {
            let saved = entry().saved - Duration::from_secs(24 * 3600 * days);
            test_cache.store(CachedServer { saved, ..entry() });
            assert_eq!(test_cache.cache.load(&test_cache.key).is_some(), counts, "{days}");
        }
    }

    #[test]
    fn an_entry_is_rewritten_only_if_it_differs() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        let hours = |hours: u64| entry().saved + Duration::from_secs(3600 * hours);
        test_cache.store(CachedServer { saved: hours(1), ..entry() });
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(entry()));
        let more = CachedServer { saved: hours(1), instructions: None, ..entry() };
        test_cache.store(more.clone());
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(more));
        let later = CachedServer { saved: hours(26), instructions: None, ..entry() };
        test_cache.store(later.clone());
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(later));
    }

    #[test]
    fn clearing_removes_entries_and_nothing_else() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        let folder = test_cache.folder.path().join("cache");
        let beside = folder.join("names.json");
        private_file::replace(&beside, b"{}").unwrap();
        assert_eq!(clear_cache(&folder).unwrap(), 1);
        assert_eq!(test_cache.cache.load(&test_cache.key), None);
        assert!(beside.exists());
        assert_eq!(clear_cache(&folder).unwrap(), 0);
    }

    #[test]
    fn clearing_waits_for_a_writer() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        let folder = test_cache.folder.path().join("cache");
        let held = FolderLock::new(Some(&folder), LOCK_TIMEOUT);
        held.take().unwrap();
        assert!(clear_cache(&folder).is_err(), "a writer would restore what it has read");
        assert_eq!(test_cache.cache.load(&test_cache.key), Some(entry()));
        drop(held);
        assert_eq!(clear_cache(&folder).unwrap(), 1);
    }

    #[test]
    fn expired_entries_are_removed_when_others_are_written() {
        let test_cache = TestCache::new();
        let old = test_cache.cache.key(&server("old", "identity", ""));
        let saved = entry().saved - MAX_AGE - Duration::from_secs(60);
        test_cache.store_all(&[(old, CachedServer { saved, ..entry() })]);
        test_cache.store(entry());
        assert_eq!(clear_cache(&test_cache.folder.path().join("cache")).unwrap(), 1);
    }

    #[test]
    fn a_list_that_is_too_long_removes_its_earlier_entry() {
        let test_cache = TestCache::new();
        test_cache.store(entry());
        assert_eq!(test_cache.cache.count(&test_cache.key), Some(2));
        let long = format!(r#"{{"tools":[{{"name":"{}"}}]}}"#, "x".repeat(MAX_BYTES));
        let page: ListPage<ToolDefinition> = ListPage::read(&long.parse().unwrap());
        test_cache.store(CachedServer { tools: page.items.into(), ..entry() });
        assert_eq!(test_cache.cache.load(&test_cache.key), None);
        assert_eq!(test_cache.cache.count(&test_cache.key), None);
    }

    #[test]
    fn clients_with_different_capabilities_have_separate_entries() {
        let test_cache = TestCache::new();
        let folder = test_cache.folder.path().join("cache");
        let declared = ClientCapabilities {
            elicitation: Some(ElicitationSupport { form: true, url: false }),
            ..ClientCapabilities::default()
        };
        let other = ToolCache::open(Some(folder.clone())).for_client(&declared);
        test_cache.store(entry());
        assert_eq!(other.load(&test_cache.key), None);
        assert_eq!(other.count(&test_cache.key), Some(2));
        let short: Arc<[ToolDefinition]> = entry().tools.iter().take(1).cloned().collect();
        let lock = FolderLock::new(Some(&folder), LOCK_TIMEOUT);
        other.store(&lock, &[(test_cache.key.clone(), CachedServer { tools: short, ..entry() })]);
        drop(lock);
        assert_eq!(other.load(&test_cache.key).unwrap().tools.len(), 1);
        assert_eq!(test_cache.cache.load(&test_cache.key).unwrap().tools.len(), 2);
        assert_eq!(test_cache.cache.count(&test_cache.key), Some(1), "the newest list counts");
        assert_eq!(clear_cache(&folder).unwrap(), 1, "it is one server");
    }

    #[test]
    fn without_a_folder_nothing_is_stored_and_nothing_fails() {
        let cache = ToolCache::open(None);
        let key = cache.key(&server("server", "identity", ""));
        cache.store(&FolderLock::new(None, LOCK_TIMEOUT), &[(key.clone(), entry())]);
        assert_eq!((cache.load(&key), cache.count(&key)), (None, None));
    }
}
