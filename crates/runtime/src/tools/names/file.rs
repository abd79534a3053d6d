//! The stored names: `cache/names.json`, one entry per server with its tools and their names.
//!
//! Saving is best effort and keeps what other processes have stored in the meantime. Servers that
//! had no tools for half a year are forgotten, and so is what goes beyond a bound.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wharf_config::store;

use crate::store::files::{self, Turn};
use super::super::naming::is_name;
use super::{LONGEST_KEPT, ServerNames};

const VERSION: u32 = 1;

/// The file in the cache folder.
pub(crate) const FILE: &str = "names.json";

/// How many days the names of a server without tools are kept.
const KEPT_DAYS: u32 = 180;

/// How many names are kept, and how many bytes the raw names may have together: the file has to stay
/// below what can be read back.
const MOST: usize = 100_000;
const MOST_BYTES: usize = 6 * 1024 * 1024;

/// What is in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    version: u32,
    servers: BTreeMap<String, StoredServer>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredServer {
    /// The day on which it last had tools, counted from 1970.
    pub(super) seen: u32,
    /// Raw name of a tool → its name.
    tools: BTreeMap<String, String>,
}

impl Stored {
    /// Returns the servers that are not too long ago.
    pub(super) fn servers(&self, today: u32) -> impl Iterator<Item = (&str, &StoredServer)> {
        let recent = move |server: &StoredServer| today.saturating_sub(server.seen) <= KEPT_DAYS;
        let servers = self.servers.iter().filter(move |(_, server)| recent(server));
        servers.map(|(name, server)| (name.as_str(), server))
    }
}

impl StoredServer {
    /// Tells whether a tool has a name that can be one.
    fn has(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|name| is_name(name))
    }

    /// Returns the tools with names that can be names.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.tools.iter().filter(|(_, name)| is_name(name));
        names.map(|(tool, name)| (tool.as_str(), name.as_str()))
    }
}

/// Reads the file; nothing if it is missing, damaged or of another version.
pub(super) fn read(path: &Path) -> Option<Stored> {
    let text = store::read(path).ok()??;
    let stored: Stored = serde_json::from_str(&text).ok()?;
    (stored.version == VERSION).then_some(stored)
}

/// Returns the server whose tool has a name, going by the stored names.
pub(crate) fn owner(path: &Path, name: &str) -> Option<String> {
    let stored = read(path)?;
    let mut servers = stored.servers(today());
    let owner = servers.find(|(_, server)| server.names().any(|(_, own)| own == name));
    owner.map(|(server, _)| server.to_owned())
}

/// Returns the number of days since 1970.
pub(super) fn today() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs() / 86_400).unwrap_or(u32::MAX)
}

/// Names that are to be saved.
#[derive(Debug)]
pub(crate) struct NamesFile {
    path: PathBuf,
    today: u32,
    servers: Vec<(Arc<str>, ServerNames)>,
}

impl NamesFile {
    /// Takes all names but those that were given for this process only.
    pub(super) fn new(
        path: PathBuf,
        today: u32,
        servers: &HashMap<Arc<str>, ServerNames>,
        for_now: &HashSet<Arc<str>>,
    ) -> Self {
        let mut servers: Vec<(Arc<str>, ServerNames)> =
            servers.iter().map(|(name, tools)| (name.clone(), tools.clone())).collect();
        if !for_now.is_empty() {
            for (_, server) in &mut servers {
                server.tools.retain(|_, name| !for_now.contains(name));
            }
        }
        Self { path, today, servers }
    }

    /// Saves the names beside those that others have stored; blocks until it is one's turn, and while
    /// it writes.
    ///
    /// Where two processes gave one name to different tools, the one stored first keeps it.
    pub(crate) fn save(self, turn: &Turn<'_>) -> io::Result<()> {
        turn.take()?;
        let earlier = read(&self.path).unwrap_or_default();
        let text = serde_json::to_string(&self.beside(&earlier)).map_err(io::Error::other)?;
        files::put(&self.path, text.as_bytes())
    }

    fn beside(&self, earlier: &Stored) -> Stored {
        let known: HashMap<&str, &StoredServer> = earlier.servers(self.today).collect();
        let ours: HashMap<&str, &ServerNames> =
            self.servers.iter().map(|(server, names)| (&**server, names)).collect();
        let mut room = Room::default();
        // What was stored before comes first, if this process has not given the tool another name.
        let mut entries = Vec::new();
        for (&server, stored) in &known {
            let ours = ours.get(server);
            for (tool, name) in stored.names() {
                if !ours.is_some_and(|ours| ours.tools.contains_key(tool)) {
                    entries.push((stored.seen, true, server, tool, name));
                }
            }
        }
        for (server, names) in &self.servers {
            let known = known.get(&**server);
            for (tool, name) in &names.tools {
                let is_stored = known.is_some_and(|known| known.has(tool));
                entries.push((names.seen, is_stored, server, tool, name));
            }
        }
        // Stored ones first so that they keep their names, and then the newest.
        entries.sort_unstable_by_key(|(seen, is_stored, server, tool, _)| {
            (!is_stored, std::cmp::Reverse(*seen), *server, *tool)
        });
        let mut taken = HashSet::new();
        let mut kept = Stored { version: VERSION, servers: BTreeMap::new() };
        let fitting = entries.into_iter().filter(|(_, _, server, tool, name)| {
            taken.insert(*name) && room.has_room_for(server, tool)
        });
        for (seen, _, server, tool, name) in fitting {
            let stored = kept.servers.entry(server.to_owned()).or_default();
            stored.seen = stored.seen.max(seen);
            stored.tools.insert(tool.to_owned(), name.to_owned());
        }
        kept
    }
}

/// What has been taken of the room in the file.
#[derive(Default)]
struct Room {
    count: usize,
    bytes: usize,
}

impl Room {
    fn has_room_for(&mut self, server: &str, tool: &str) -> bool {
        if server.len() + tool.len() > LONGEST_KEPT || self.count >= MOST {
            return false;
        }
        self.count += 1;
        self.bytes += length(server) + length(tool);
        self.bytes <= MOST_BYTES
    }
}

/// Returns how long a text is at most once it is written as JSON.
fn length(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\')).count();
    text.len() + 5 * escaped
}
