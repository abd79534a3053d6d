//! Tool pinning: detects changed tools, because a changed description can steer a model.
//!
//! The first live list of a definition is pinned. `observe` reports changes and pins the new
//! version; `enforce` withholds changed tools until a person accepts them. Schemas are compared
//! without regard to the order of members, which some servers change at every start. The file is
//! in `store::pins`.

use std::collections::{BTreeMap, HashSet};
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use wharf_config::settings::SettingValue;
use wharf_config::store::private_file::hex;
use wharf_config::{Problem, Settings};
use wharf_protocol::view::ToolDefinition;
use wharf_protocol::{Json, Members};

/// The fields of a tool that are pinned.
const FIELDS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// The maximum number of removed tools that stay pinned.
const MAX_REMOVED_TOOLS: usize = 1000;

/// The depth to which members are sorted; deeper values are compared as written.
const MAX_DEPTH: usize = 64;

/// What happens to tools that differ from their pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pinning {
    /// They are reported, and the new version is pinned.
    #[default]
    Observe,
    /// They are withheld until a person accepts them.
    Enforce,
}

impl From<&Settings> for Pinning {
    fn from(settings: &Settings) -> Self {
        let is_enforced = settings.is_set_to("tools.pinning", "enforce");
        if is_enforced { Self::Enforce } else { Self::Observe }
    }
}

/// The word of the setting, for [`wharf_config::Settings::with`].
impl From<Pinning> for SettingValue {
    fn from(value: Pinning) -> Self {
        Self::from(match value {
            Pinning::Observe => "observe",
            Pinning::Enforce => "enforce",
        })
    }
}

/// The result of comparing a list with the pins.
#[derive(Debug, Default)]
pub struct PinReport {
    is_first: bool,
    /// The tools are pinned: those that are not in `changes` match their pins.
    is_pinned: bool,
    changes: Vec<ToolChange>,
    /// The names of the tools in `changes`.
    different: HashSet<String>,
    withheld: WithheldTools,
    problem: Option<Problem>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum WithheldTools {
    #[default]
    None,
    Different,
    All,
}

/// A tool that differs from its pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// The raw name: untrusted text.
    pub tool: String,
    /// Whether it is new or has changed.
    pub kind: ChangeKind,
    /// The changed fields; empty for a new tool, except in a review.
    pub differences: Vec<ToolDifference>,
}

/// How a tool differs from the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It has no pin.
    New,
    /// Its definition differs from the pin.
    Changed,
}

/// One field of a tool before and now: untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDifference {
    /// `title`, `description`, `inputSchema`, `outputSchema` or `annotations`.
    pub field: &'static str,
    /// The pinned text, if there was one and it was short enough to be stored.
    pub before: Option<String>,
    /// The current text, if there is one.
    pub after: Option<String>,
}

/// Why tools could not be pinned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// Their record is over the size limit.
    #[error("the pins of its tools are larger than {} MiB", .limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The file could not be written.
    #[error("could not write the pins")]
    Unwritable(#[from] io::Error),
}

impl PinError {
    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge { .. } => {
                "Wharf cannot detect changes of its tools; approve its calls with care".to_owned()
            }
            Self::Unwritable(_) => "check the folder `pins` in Wharf's home".to_owned(),
        }
    }

    /// Returns it as a problem.
    pub fn as_problem(&self) -> Problem {
        Problem::warning("pins", self.to_string()).hint(self.hint())
    }
}

/// The pinned tools of one definition. Removed tools stay pinned, so that a changed version is
/// noticed when they reappear.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PinnedTools {
    /// A hash of the whole list: if it is equal, no tool has to be compared.
    digest: String,
    tools: BTreeMap<String, Pin>,
}

/// The pinned definition of a tool, by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Pin(BTreeMap<String, PinnedText>);

/// A text, or the hash of a text that is too long to be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum PinnedText {
    Text(String),
    Long { sha256: String },
}

impl PinReport {
    /// Returns the report for tools that are pinned and have not changed.
    pub(crate) fn of_pinned() -> Self {
        Self { is_pinned: true, ..Self::default() }
    }

    /// Tells whether the tools were pinned just now for the first time.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the tools that are new or have changed.
    pub fn changes(&self) -> &[ToolChange] {
        &self.changes
    }

    /// Tells whether a tool matches its pin.
    pub fn is_unchanged(&self, tool: &str) -> bool {
        self.is_pinned && !self.different.contains(tool)
    }

    /// Tells whether a tool must not be called until a person accepts it.
    pub fn withholds(&self, tool: &str) -> bool {
        match self.withheld {
            WithheldTools::None => false,
            WithheldTools::Different => self.different.contains(tool),
            WithheldTools::All => true,
        }
    }

    /// Returns the changes as a limited number of problems.
    pub fn problems(&self, server: &str) -> Vec<Problem> {
        const MAX_PROBLEMS: usize = 10;
        let what_next = if self.withheld == WithheldTools::None { "" } else { "; withheld" };
        let messages = self.changes.iter().take(MAX_PROBLEMS).map(|change| {
            let fields: Vec<&str> =
                change.differences.iter().map(|difference| difference.field).collect();
            let what = match change.kind {
                ChangeKind::New => "is new".to_owned(),
                ChangeKind::Changed => format!("has changed ({})", fields.join(", ")),
            };
            format!("tool \"{}\" {what}{what_next}", change.tool)
        });
        let more = self.changes.len().saturating_sub(MAX_PROBLEMS);
        let more = (more > 0).then(|| format!("{more} more tools are new or changed{what_next}"));
        let changes = messages.chain(more).map(|message| {
            let problem = Problem::warning("tool-changed", message);
            if self.withheld == WithheldTools::None {
                problem.hint("review its new definition before you use it")
            } else {
                problem.hint("a person must accept the change before the tool can be called")
            }
        });
        let all = self.problem.clone().into_iter().chain(changes);
        all.map(|problem| problem.of_server(server)).collect()
    }

    /// Returns all changes, with the fields of new tools.
    pub(crate) fn into_review(mut self, tools: &[ToolDefinition]) -> Vec<ToolChange> {
        for change in self.changes.iter_mut().filter(|change| change.kind == ChangeKind::New) {
            let tool = tools.iter().find(|tool| tool.name() == change.tool.as_str());
            let differences = tool.map(|tool| Pin::default().differences(&Pin::of(tool)));
            change.differences = differences.unwrap_or_default();
        }
        self.changes
    }

    pub(crate) fn withholds_anything(&self) -> bool {
        self.withheld != WithheldTools::None
    }

    pub(crate) fn mark_first(&mut self) {
        self.is_first = true;
    }

    pub(crate) fn withhold(&mut self, mode: Pinning) {
        if mode == Pinning::Enforce && !self.changes.is_empty() {
            self.withheld = WithheldTools::Different;
        }
    }

    pub(crate) fn mark_damaged(&mut self, mode: Pinning) {
        let message = "the pins of this server's tools are damaged, so changes cannot be detected";
        let problem = Problem::warning("pins", message);
        self.is_pinned = false;
        self.problem = Some(match mode {
            Pinning::Observe => problem.hint("review its tools; the current ones are pinned"),
            Pinning::Enforce => {
                self.withheld = WithheldTools::All;
                problem.hint("a person must accept its tools before they can be called")
            }
        });
    }

    pub(crate) fn mark_too_large(&mut self, limit: usize, mode: Pinning) {
        self.is_pinned = false;
        self.problem = Some(PinError::TooLarge { limit }.as_problem());
        if mode == Pinning::Enforce {
            self.withheld = WithheldTools::All;
        }
    }

    pub(crate) fn compare(&mut self, pinned: &PinnedTools, tools: &[ToolDefinition]) {
        let mut seen = HashSet::new();
        for tool in tools.iter().filter(|tool| seen.insert(tool.name())) {
            let (kind, differences) = match pinned.tools.get(&**tool.name()) {
                None => (ChangeKind::New, Vec::new()),
                Some(pin) => (ChangeKind::Changed, pin.differences(&Pin::of(tool))),
            };
            if kind == ChangeKind::New || !differences.is_empty() {
                let tool = tool.name().to_string();
                self.different.insert(tool.clone());
                self.changes.push(ToolChange { tool, kind, differences });
            }
        }
    }
}

impl PinnedTools {
    /// Tells whether a list equals the one that was pinned last.
    pub(crate) fn is_same(&self, tools: &[ToolDefinition]) -> bool {
        self.digest == digest(tools)
    }

    /// Adds a list to the pins.
    pub(crate) fn with(mut self, tools: &[ToolDefinition]) -> Self {
        let present: HashSet<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        let mut gone = 0;
        self.tools.retain(|name, _| {
            gone += usize::from(!present.contains(&**name));
            present.contains(&**name) || gone <= MAX_REMOVED_TOOLS
        });
        // Of several tools with one name the first counts, so it is inserted last.
        for tool in tools.iter().rev() {
            self.tools.insert(tool.name().to_string(), Pin::of(tool));
        }
        self.digest = digest(tools);
        self
    }

    /// Replaces longer texts by their hashes.
    pub(crate) fn shortened(&self, longest: usize) -> Self {
        let tools = self.tools.iter().map(|(name, pin)| (name.clone(), pin.shortened(longest)));
        Self { digest: self.digest.clone(), tools: tools.collect() }
    }

    /// Drops everything except the hash of the list, which still detects changes.
    pub(crate) fn digest_only(self) -> Self {
        Self { digest: self.digest, tools: BTreeMap::new() }
    }
}

impl Pin {
    /// Reads the fields of a tool.
    pub(crate) fn of(tool: &ToolDefinition) -> Self {
        let values = FIELDS.into_iter().zip(tool.raw().get_all(FIELDS));
        let fields = values.filter_map(|(field, value)| {
            let value = value.filter(|value| !value.is_null())?;
            let text = value.to_text().unwrap_or_else(|| ordered(&value));
            Some((field.to_owned(), PinnedText::Text(text)))
        });
        Self(fields.collect())
    }

    /// Returns the fields that differ now.
    pub(crate) fn differences(&self, now: &Self) -> Vec<ToolDifference> {
        let differing = FIELDS.into_iter().filter_map(|field| {
            let (before, after) = (self.0.get(field), now.0.get(field));
            let is_same = match (before, after) {
                (Some(before), Some(after)) => before.is_same(after),
                (before, after) => before.is_none() && after.is_none(),
            };
            let text = |pinned: Option<&PinnedText>| pinned.and_then(PinnedText::text);
            (!is_same).then(|| ToolDifference { field, before: text(before), after: text(after) })
        });
        differing.collect()
    }

    fn shortened(&self, longest: usize) -> Self {
        let fields = self.0.iter().map(|(field, text)| (field.clone(), text.shortened(longest)));
        Self(fields.collect())
    }
}

impl PinnedText {
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
            Self::Text(text) => hex(&Sha256::digest(text)),
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

/// Returns a hash of a whole list.
fn digest(tools: &[ToolDefinition]) -> String {
    let mut hash = Sha256::new();
    for tool in tools {
        // The name may be outside of the tool's own text.
        for text in [&**tool.name(), tool.raw().as_str()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hex(&hash.finalize())
}

/// Writes a value with the members of objects sorted.
fn ordered(value: &Json) -> String {
    let mut out = String::with_capacity(value.as_str().len());
    write_ordered(value.as_str(), 0, &mut out);
    out
}

fn write_ordered(text: &str, depth: usize, out: &mut String) {
    if depth < MAX_DEPTH
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
    } else if depth < MAX_DEPTH
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
