//! A file of pinned tools: a line with the hash of the whole list, then what each tool says.
//!
//! As long as the list is the same, the line is enough. Schemas are compared without regard to the
//! order of members, which some servers change at every start.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use wharf_config::store;
use wharf_protocol::view::Tool;
use wharf_protocol::{Json, Members};

use super::{Difference, PinError};
use crate::tools::disk;

const VERSION: u32 = 1;

/// What is pinned of a tool.
const FIELDS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// Longer texts are pinned by their hash alone; in a large file all but the shortest are.
const LONGEST: usize = 8 * 1024;
const LONGEST_IN_A_LARGE_FILE: usize = 80;
const LARGE: usize = 8 * 1024 * 1024;

/// How many tools that are gone stay pinned.
const MOST_GONE: usize = 1000;

/// How deep values are put in order; what is deeper is compared as it is written.
const DEEPEST: usize = 64;

/// The pinned tools of one definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PinFile {
    digest: String,
    tools: BTreeMap<String, Pin>,
}

/// What a tool said when it was pinned, by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pin(BTreeMap<String, Said>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Long { sha256: String },
}

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    digest: String,
}

/// What there is to read.
pub(super) enum Read {
    Pinned(PinFile),
    Missing,
    Damaged,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Read {
    let text = match store::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Read::Missing,
        Err(_) => return Read::Damaged,
    };
    let parse = || {
        let (line, body) = text.split_once('\n')?;
        let header: Header = serde_json::from_str(line).ok()?;
        let tools = serde_json::from_str(body).ok()?;
        (header.version == VERSION).then_some(PinFile { digest: header.digest, tools })
    };
    parse().map_or(Read::Damaged, Read::Pinned)
}

impl PinFile {
    /// Tells whether a list is the very one that was pinned.
    pub(super) fn is_exactly(&self, tools: &[Tool]) -> bool {
        self.digest == digest(tools)
    }

    /// Returns how a tool is pinned.
    pub(super) fn get(&self, tool: &str) -> Option<&Pin> {
        self.tools.get(tool)
    }

    /// Pins a list over what is pinned already.
    pub(super) fn with(mut self, tools: &[Tool]) -> Self {
        let present: HashSet<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        let mut gone = 0;
        self.tools.retain(|name, _| {
            gone += usize::from(!present.contains(name.as_str()));
            present.contains(name.as_str()) || gone <= MOST_GONE
        });
        // Of tools with one name the first counts, so it is put in last.
        for tool in tools.iter().rev() {
            self.tools.insert(tool.name().to_string(), Pin::of(tool));
        }
        self.digest = digest(tools);
        self
    }

    /// Writes the file; says why that is not possible. It is not forced down to the disk: with a
    /// hundred servers that takes longer than connecting to them, and a machine that crashes right
    /// then only asks the person again.
    pub(super) fn write(&self, path: &Path) -> Result<(), PinError> {
        let header = Header { version: VERSION, digest: self.digest.clone() };
        // Maps of texts can always be written.
        let line = serde_json::to_string(&header).unwrap_or_default();
        let mut body = serde_json::to_string(&self.shortened(LONGEST)).unwrap_or_default();
        if body.len() > LARGE {
            let short = self.shortened(LONGEST_IN_A_LARGE_FILE);
            body = serde_json::to_string(&short).unwrap_or_default();
        }
        let text = format!("{line}\n{body}");
        if text.len() as u64 > store::MAX_FILE_BYTES {
            return Err(PinError::TooMany);
        }
        Ok(disk::put(path, text.as_bytes())?)
    }

    fn shortened(&self, longest: usize) -> BTreeMap<&str, Pin> {
        self.tools.iter().map(|(name, pin)| (name.as_str(), pin.shortened(longest))).collect()
    }
}

impl Pin {
    /// Reads what a tool says.
    pub(super) fn of(tool: &Tool) -> Self {
        let said = FIELDS.into_iter().filter_map(|field| {
            let value = tool.raw().get(field).filter(|value| !value.is_null())?;
            let text = value.to_text().unwrap_or_else(|| ordered(&value));
            Some((field.to_owned(), Said::Text(text)))
        });
        Self(said.collect())
    }

    /// Returns what is different now.
    pub(super) fn differences(&self, now: &Self) -> Vec<Difference> {
        let differing = FIELDS.into_iter().filter_map(|field| {
            let (before, after) = (self.0.get(field), now.0.get(field));
            let is_same = match (before, after) {
                (Some(before), Some(after)) => before.is_same(after),
                (before, after) => before.is_none() && after.is_none(),
            };
            let text = |said: Option<&Said>| said.and_then(Said::text);
            (!is_same).then(|| Difference { field, before: text(before), after: text(after) })
        });
        differing.collect()
    }

    fn shortened(&self, longest: usize) -> Self {
        let said = self.0.iter().map(|(field, said)| (field.clone(), said.shortened(longest)));
        Self(said.collect())
    }
}

impl Said {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => self.hash() == other.hash(),
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Long { .. } => None,
        }
    }

    fn hash(&self) -> String {
        match self {
            Self::Text(text) => hex(Sha256::new().chain_update(text)),
            Self::Long { sha256 } => sha256.clone(),
        }
    }

    fn shortened(&self, longest: usize) -> Self {
        match self {
            Self::Text(text) if text.len() > longest => Self::Long { sha256: self.hash() },
            short => short.clone(),
        }
    }
}

fn digest(tools: &[Tool]) -> String {
    let mut hash = Sha256::new();
    for tool in tools {
        // A name that did not come with the tool's own text counts too.
        for text in [&**tool.name(), tool.raw().as_str()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hex(hash)
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a value with the members of objects in order.
fn ordered(value: &Json) -> String {
    let mut out = String::with_capacity(value.as_str().len());
    write_ordered(value.as_str(), 0, &mut out);
    out
}

fn write_ordered(text: &str, depth: usize, out: &mut String) {
    if depth < DEEPEST
        && let Some(members) = Members::of(text)
    {
        let members: BTreeMap<&str, &RawValue> = members.iter().collect();
        out.push('{');
        for (index, (key, value)) in members.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            out.push_str(&serde_json::to_string(key).unwrap_or_default());
            out.push(':');
            write_ordered(value.get(), depth + 1, out);
        }
        out.push('}');
    } else if depth < DEEPEST
        && text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
    {
        out.push('[');
        for (index, item) in items.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            write_ordered(item.get(), depth + 1, out);
        }
        out.push(']');
    } else {
        out.push_str(text);
    }
}
