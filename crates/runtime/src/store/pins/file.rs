//! The record of one definition's pinned tools: a line with the hash of the whole list, then the tools as they came.
//!
//! As long as the list is the same, the line is enough, and writing takes no tool apart. Of tools
//! that say very much only the hashes are kept. Schemas are compared without regard to the order of
//! members, which some servers change at every start.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use wharf_config::store;
use wharf_protocol::view::Tool;
use wharf_protocol::{Json, Members};

use super::Difference;
use crate::store::written::{self, Pieces};

const VERSION: u32 = 2;

/// What is pinned of a tool.
const FIELDS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// Tools that are longer are taken apart, and longer texts in them are pinned by their hash alone; in
/// a large record that happens to all tools, and to all but the shortest texts.
const LONGEST: usize = 8 * 1024;
const LONGEST_IN_A_LARGE_RECORD: usize = 80;
const LARGE: usize = 8 * 1024 * 1024;

/// How many tools that are gone stay pinned.
const MOST_GONE: usize = 1000;

/// How deep values are put in order; what is deeper is compared as it is written.
const DEEPEST: usize = 64;

/// The pinned tools of one definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PinFile {
    digest: String,
    tools: BTreeMap<ByteString, Pinned>,
}

#[derive(Debug, Clone, PartialEq)]
enum Pinned {
    Whole(Tool),
    Apart(Pin),
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
    /// The length of the rest, so that a record which was cut is noticed.
    bytes: usize,
}

/// What is known of a definition's tools.
pub(super) enum Known {
    /// They are pinned exactly like that.
    Same,
    Pinned(PinFile),
    Missing,
    Damaged,
}

/// Reads a record, as far as it takes to know about a list of tools.
pub(super) fn read(text: &ByteString, tools: &[Tool]) -> Known {
    match head(text) {
        Some((header, _)) if header.digest == digest(tools) => Known::Same,
        Some((header, body)) => {
            PinFile::parse(header.digest, body).map_or(Known::Damaged, Known::Pinned)
        }
        None => Known::Damaged,
    }
}

/// Reads a whole record.
pub(super) fn parse(text: &ByteString) -> Option<PinFile> {
    let (header, body) = head(text)?;
    PinFile::parse(header.digest, body)
}

/// Returns what is left of a record that may be no longer than necessary.
pub(super) fn shortest(text: &ByteString) -> Option<PinFile> {
    Some(PinFile { digest: head(text)?.0.digest, tools: BTreeMap::new() })
}

fn head(text: &ByteString) -> Option<(Header, ByteString)> {
    let (line, body) = text.split_once('\n')?;
    let header: Header = serde_json::from_str(line).ok()?;
    let is_whole = header.version == VERSION && header.bytes == body.len();
    is_whole.then(|| (header, text.slice_ref(body)))
}

impl PinFile {
    fn parse(digest: String, body: ByteString) -> Option<Self> {
        let (whole, tools) = written::read(body)?;
        let apart: BTreeMap<String, Pin> = whole.get("apart")?.to()?;
        let tools = tools.into_iter().map(|tool| (tool.name().clone(), Pinned::Whole(tool)));
        let apart = apart.into_iter().map(|(name, pin)| (name.into(), Pinned::Apart(pin)));
        Some(Self { digest, tools: tools.chain(apart).collect() })
    }

    /// Returns how a tool is pinned.
    pub(super) fn get(&self, tool: &str) -> Option<Cow<'_, Pin>> {
        self.tools.get(tool).map(|pinned| match pinned {
            Pinned::Whole(tool) => Cow::Owned(Pin::of(tool)),
            Pinned::Apart(pin) => Cow::Borrowed(pin),
        })
    }

    /// Pins a list over what is pinned already.
    pub(super) fn with(mut self, tools: &[Tool]) -> Self {
        let present: HashSet<&ByteString> = tools.iter().map(Tool::name).collect();
        let mut gone = 0;
        self.tools.retain(|name, _| {
            gone += usize::from(!present.contains(name));
            present.contains(name) || gone <= MOST_GONE
        });
        // Of tools with one name the first counts, so it is put in last.
        for tool in tools.iter().rev() {
            self.tools.insert(tool.name().clone(), Pinned::Whole(tool.clone()));
        }
        self.digest = digest(tools);
        self
    }

    /// Writes the record; nothing if there are too many tools.
    pub(super) fn write(&self) -> Option<Pieces> {
        let mut body = self.body(LONGEST, LONGEST);
        if body.len() > LARGE {
            body = self.body(0, LONGEST_IN_A_LARGE_RECORD);
        }
        let header = Header { version: VERSION, digest: self.digest.clone(), bytes: body.len() };
        let text = body.led_by(serde_json::to_string(&header).ok()?);
        (text.len() as u64 <= store::MAX_FILE_BYTES).then_some(text)
    }

    /// Returns how many tools are pinned.
    pub(super) fn count(&self) -> usize {
        self.tools.len()
    }

    /// Writes tools up to a length as they came, and of longer ones texts up to a length.
    fn body(&self, longest_tool: usize, longest_text: usize) -> Pieces {
        let mut whole = Vec::with_capacity(self.tools.len());
        let mut apart = BTreeMap::new();
        for (name, pinned) in &self.tools {
            let name: &str = name;
            match pinned {
                Pinned::Whole(tool) if tool.raw().as_str().len() <= longest_tool => {
                    whole.push(tool);
                }
                Pinned::Whole(tool) => {
                    drop(apart.insert(name, Pin::of(tool).shortened(longest_text)));
                }
                Pinned::Apart(pin) => drop(apart.insert(name, pin.shortened(longest_text))),
            }
        }
        let mut body = Pieces::default();
        body.push(ByteString::from_static("{"));
        written::write(whole, &mut body);
        // Maps of texts can always be written.
        let apart = serde_json::to_string(&apart).unwrap_or_default();
        body.push(format!(",\"apart\":{apart}}}"));
        body
    }
}

impl Pin {
    /// Reads what a tool says.
    pub(super) fn of(tool: &Tool) -> Self {
        let values = FIELDS.into_iter().zip(tool.raw().get_all(FIELDS));
        let said = values.filter_map(|(field, value)| {
            let value = value.filter(|value| !value.is_null())?;
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
        && text.starts_with('{')
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
