//! Lists every record under `cache/` and `pins/` for display.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Serialize, Serializer};
use wharf_config::time::rfc3339;
use wharf_protocol::Json;

use super::record_file::{RecordFile, time_at};
use super::{attempts, pins, tool_cache, tool_names};

/// All stored records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct StoredRecords {
    /// The records, file by file, the oldest first.
    pub records: Vec<StoredRecord>,
    /// The files that cannot be read, with the error.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// A summary of one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoredRecord {
    /// What the record is about.
    pub kind: RecordKind,
    /// The name of the server: untrusted text.
    pub server: String,
    /// The key in the file.
    pub key: String,
    /// When it was written, if the record has a time. Serializes as RFC 3339 in UTC.
    #[serde(serialize_with = "as_rfc3339_if_known", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
    /// The number of tools in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// The error of a failed attempt to connect: untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its size.
    pub bytes: usize,
    /// The file.
    pub path: PathBuf,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RecordKind {
    /// The tools that a server listed.
    Tools,
    /// How the last attempt to connect ended.
    Attempt,
    /// The assigned names of tools.
    Names,
    /// The definitions of tools when they were accepted or first seen.
    Pins,
}

#[expect(clippy::ref_option, reason = "serde calls it in this form")]
fn as_rfc3339_if_known<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(rfc3339).serialize(serializer)
}

impl RecordKind {
    /// Returns the kind as one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Attempt => "attempt",
            Self::Names => "names",
            Self::Pins => "pins",
        }
    }
}

/// Reads all records in the folders of the cache and of the pins; changes nothing.
pub fn stored_records(cache: &Path, pins: &Path) -> StoredRecords {
    let files = [
        (RecordKind::Tools, cache.join(tool_cache::FILE)),
        (RecordKind::Attempt, cache.join(attempts::FILE)),
        (RecordKind::Names, cache.join(tool_names::FILE)),
        (RecordKind::Pins, pins.join(pins::FILE)),
    ];
    let mut all = StoredRecords::default();
    for (kind, path) in files {
        match RecordFile::new(path.clone()).load() {
            Ok(records) => {
                let records = records.iter();
                all.records.extend(records.map(|(key, record)| describe(kind, &path, key, record)));
            }
            Err(error) => all.unreadable.push((path, error.to_string())),
        }
    }
    all
}

fn describe(kind: RecordKind, path: &Path, key: &str, record: &Json) -> StoredRecord {
    let text = |field: &str| record.get(field).and_then(|text| text.to_text());
    let seconds = |field: &str| record.get(field).and_then(|number| number.to::<u64>());
    let members = |object: Option<Json>| Some(object?.members()?.iter().count());
    StoredRecord {
        kind,
        server: text("server").unwrap_or_else(|| key.to_owned()),
        key: key.to_owned(),
        at: seconds("saved").or_else(|| seconds("at")).map(time_at),
        tools: match kind {
            RecordKind::Tools => tool_cache::count(record),
            RecordKind::Attempt => None,
            RecordKind::Names => members(record.get("tools")),
            RecordKind::Pins => members(record.get("pinned").and_then(|it| it.get("tools"))),
        },
        error: text("error"),
        bytes: record.as_str().len(),
        path: path.to_owned(),
    }
}
