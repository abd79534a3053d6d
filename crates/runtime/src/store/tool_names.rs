//! The names of tools, `cache/names.json`: per server, raw tool name → assigned name.
//!
//! The key of a record is the name of the server. Saving keeps the names that other processes have
//! stored in the meantime. Servers without tools for half a year are removed, and so are names
//! beyond a limit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wharf_protocol::Json;

use super::folder_lock::FolderLock;
use super::record_file::{RecordFile, Records};
use crate::tools::name_table::{NameTable, ServerNames, today};
use crate::tools::naming::is_name;

/// The file in the cache folder.
pub(super) const FILE: &str = "names.json";

/// The number of days for which the names of a server without tools are kept.
const MAX_AGE_DAYS: u32 = 180;

/// The maximum number of names, and the maximum size of all raw names: the file must stay small
/// enough to be read.
const MAX_NAMES: usize = 100_000;
const MAX_BYTES: usize = 6 << 20;

/// Longer raw names are not stored: their names have a suffix made from the raw name anyway.
const MAX_RAW_NAME_LENGTH: usize = 1024;

/// The file of names; without a folder nothing is stored.
#[derive(Debug)]
pub(crate) struct ToolNamesFile(Option<RecordFile>);

/// The record of one server.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredNames {
    /// The day on which it last had tools, counted from 1970.
    seen: u32,
    /// Raw name of a tool → its name.
    tools: BTreeMap<String, String>,
}

impl StoredNames {
    /// Tells whether a tool has a valid name.
    fn has(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|name| is_name(name))
    }

    /// Returns the tools with valid names.
    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.tools.iter().filter(|(_, name)| is_name(name));
        names.map(|(tool, name)| (tool.as_str(), name.as_str()))
    }
}

impl ToolNamesFile {
    /// Uses a folder. Nothing is read or created yet.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        Self(folder.map(|folder| RecordFile::new(folder.join(FILE))))
    }

    /// Reads the names; a file that is missing or damaged has none.
    pub(crate) fn load(&self) -> NameTable {
        let mut names = NameTable::default();
        for (server, stored) in self.stored() {
            names.restore(&server, stored.seen, stored.names());
        }
        names
    }

    /// Returns the server whose tool has this name.
    pub(crate) fn owner(&self, name: &str) -> Option<String> {
        let mut servers = self.stored().into_iter();
        servers
            .find(|(_, stored)| stored.names().any(|(_, own)| own == name))
            .map(|(server, _)| server)
    }

    /// Adds names to those that other processes have stored. Waits for other processes and for the
    /// disk.
    ///
    /// If two processes assigned one name to different tools, the name that was stored first
    /// stays.
    pub(crate) fn save(
        &self,
        lock: &FolderLock<'_>,
        names: &[(Arc<str>, ServerNames)],
    ) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        file.change(lock, |records| {
            let all = merge(&read(records), names);
            *records = Records::default();
            for (server, stored) in all {
                if let Ok(record) = Json::encode(&stored) {
                    records.put(&server, record);
                }
            }
        })
    }

    fn stored(&self) -> BTreeMap<String, StoredNames> {
        let records = self.0.as_ref().and_then(|file| file.load().ok());
        records.map(|records| read(&records)).unwrap_or_default()
    }
}

/// Reads the records that are well-formed and not too old.
fn read(records: &Records) -> BTreeMap<String, StoredNames> {
    let today = today();
    let is_recent = |stored: &StoredNames| today.saturating_sub(stored.seen) <= MAX_AGE_DAYS;
    let all = records.iter().filter_map(|(server, record)| {
        Some((server.to_owned(), record.to::<StoredNames>().filter(is_recent)?))
    });
    all.collect()
}

/// Adds names to the stored ones.
fn merge(
    stored: &BTreeMap<String, StoredNames>,
    unsaved: &[(Arc<str>, ServerNames)],
) -> BTreeMap<String, StoredNames> {
    let ours: HashMap<&str, &ServerNames> =
        unsaved.iter().map(|(server, names)| (&**server, names)).collect();
    let mut entries = Vec::new();
    for (server, stored) in stored {
        let ours = ours.get(&**server);
        // A name of this process replaces the stored name of the same tool.
        for (tool, name) in stored.names() {
            if !ours.is_some_and(|ours| ours.tools.contains_key(tool)) {
                entries.push((stored.seen, true, &**server, tool, name));
            }
        }
    }
    for (server, names) in unsaved {
        let stored = stored.get(&**server);
        for (tool, name) in &names.tools {
            let is_stored = stored.is_some_and(|stored| stored.has(tool));
            entries.push((names.seen, is_stored, server, tool, name));
        }
    }
    // Stored names first, so that they stay, and then the newest.
    entries.sort_unstable_by_key(|(seen, is_stored, server, tool, _)| {
        (!is_stored, std::cmp::Reverse(*seen), *server, *tool)
    });
    let (mut budget, mut taken) = (NamesBudget::default(), HashSet::new());
    let mut kept: BTreeMap<String, StoredNames> = BTreeMap::new();
    let fitting = entries
        .into_iter()
        .filter(|(_, _, server, tool, name)| taken.insert(*name) && budget.try_add(server, tool));
    for (seen, _, server, tool, name) in fitting {
        let stored = kept.entry(server.to_owned()).or_default();
        stored.seen = stored.seen.max(seen);
        stored.tools.insert(tool.to_owned(), name.to_owned());
    }
    kept
}

/// Counts the names that are written and their size.
#[derive(Default)]
struct NamesBudget {
    count: usize,
    bytes: usize,
}

impl NamesBudget {
    fn try_add(&mut self, server: &str, tool: &str) -> bool {
        if server.len() + tool.len() > MAX_RAW_NAME_LENGTH || self.count >= MAX_NAMES {
            return false;
        }
        self.count += 1;
        self.bytes += max_json_length(server) + max_json_length(tool);
        self.bytes <= MAX_BYTES
    }
}

/// Returns the maximum length of a text as JSON.
fn max_json_length(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\')).count();
    text.len() + 5 * escaped
}
