//! Tool pinning: notices when a tool is no longer what it was, because new words in a description
//! can steer a model.
//!
//! At the first live list of a definition its tools are pinned. `observe` reports what is different
//! and pins that; `enforce` withholds what is different until the person accepts it. Schemas are
//! compared without regard to the order of members, which some servers change at every start. The
//! file is in `store::pins`.

use std::collections::{BTreeMap, HashSet};
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use wharf_config::store::private_file::hex;
use wharf_config::{Problem, Settings};
use wharf_protocol::view::ToolDefinition;
use wharf_protocol::{Json, Members};

/// What is pinned of a tool.
const FIELDS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// How many tools that are gone stay pinned.
const MAX_REMOVED_TOOLS: usize = 1000;

/// How deep values are put in order; what is deeper is compared as it is written.
const MAX_DEPTH: usize = 64;

/// What happens to tools that are not as they were pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pinning {
    /// They are reported, and pinned as they are now.
    #[default]
    Observe,
    /// They are withheld.
    Enforce,
}

impl From<&Settings> for Pinning {
    fn from(settings: &Settings) -> Self {
        let is_enforced = settings.is_set_to("tools.pinning", "enforce");
        if is_enforced { Self::Enforce } else { Self::Observe }
    }
}

/// What comparing a live list with the pins has shown.
#[derive(Debug, Default)]
pub struct PinReport {
    is_first: bool,
    /// The tools are pinned: those that are not in `changes` are as they were.
    is_pinned: bool,
    changes: Vec<ToolChange>,
    /// The tools in `changes`.
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

/// A tool that is not as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChange {
    /// Its name on the server: untrusted text.
    pub tool: String,
    /// Whether it is new or different.
    pub kind: ChangeKind,
    /// What is different; empty for a new tool, except in a review.
    pub differences: Vec<ToolDifference>,
}

/// How a tool differs from the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    New,
    /// It says something else than before.
    Changed,
}

/// One part of a tool before and now: untrusted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDifference {
    /// `title`, `description`, `inputSchema`, `outputSchema` or `annotations`.
    pub field: &'static str,
    /// What it was, if it was there and not too long to be kept.
    pub before: Option<String>,
    /// What it is now, if it is there.
    pub after: Option<String>,
}

/// Why tools could not be pinned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// What they say does not fit into a file.
    #[error("there are too many tools to notice when they change")]
    TooMany,
    /// The file could not be written.
    #[error("could not write down what tools look like")]
    Unwritable(#[from] io::Error),
}

impl PinError {
    /// Says what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TooMany => "approve the calls of this server with care".to_owned(),
            Self::Unwritable(_) => "check the folder `pins` in Wharf's home".to_owned(),
        }
    }

    /// Returns it as a problem.
    pub fn as_problem(&self) -> Problem {
        Problem::warning("pins", self.to_string()).hint(self.hint())
    }
}

/// The pinned tools of one definition. Tools that are gone stay pinned, so that they cannot come
/// back as something else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PinnedTools {
    /// A hash of the whole list: as long as it is the same, nothing has to be compared.
    digest: String,
    tools: BTreeMap<String, Pin>,
}

/// What a tool said when it was pinned, by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Pin(BTreeMap<String, PinnedText>);

/// A text, or the hash of one that is too long to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum PinnedText {
    Text(String),
    Long { sha256: String },
}

impl PinReport {
    /// Reports on tools that are pinned and have not changed.
    pub(crate) fn of_pinned() -> Self {
        Self { is_pinned: true, ..Self::default() }
    }

    /// Tells whether the tools were pinned just now, for the first time.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the tools that are new or different.
    pub fn changes(&self) -> &[ToolChange] {
        &self.changes
    }

    /// Tells whether a tool is pinned and as it was.
    pub fn is_unchanged(&self, tool: &str) -> bool {
        self.is_pinned && !self.different.contains(tool)
    }

    /// Tells whether a tool must not be used until the person accepts it.
    pub fn withholds(&self, tool: &str) -> bool {
        match self.withheld {
            WithheldTools::None => false,
            WithheldTools::Different => self.different.contains(tool),
            WithheldTools::All => true,
        }
    }

    /// Returns what the person should know, in at most a few problems.
    pub fn problems(&self, server: &str) -> Vec<Problem> {
        const MAX_PROBLEMS: usize = 10;
        let what_next = if self.withheld == WithheldTools::None { "" } else { "; withheld" };
        let told = self.changes.iter().take(MAX_PROBLEMS).map(|change| {
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
        let changes = told.chain(more).map(|message| {
            let problem = Problem::warning("tool-changed", message);
            if self.withheld == WithheldTools::None {
                problem.hint("look at what it says now before you rely on it")
            } else {
                problem.hint("it can be called once somebody has seen the change and accepted it")
            }
        });
        let all = self.problem.clone().into_iter().chain(changes);
        all.map(|problem| problem.of_server(server)).collect()
    }

    /// Returns the changes in full, with what new tools say.
    pub(crate) fn into_review(mut self, tools: &[ToolDefinition]) -> Vec<ToolChange> {
        for change in self.changes.iter_mut().filter(|change| change.kind == ChangeKind::New) {
            let tool = tools.iter().find(|tool| tool.name() == change.tool.as_str());
            let said = tool.map(|tool| Pin::default().differences(&Pin::of(tool)));
            change.differences = said.unwrap_or_default();
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
        let message = "the record of this server's tools is damaged";
        let problem = Problem::warning("pins", message);
        self.is_pinned = false;
        self.problem = Some(match mode {
            Pinning::Observe => problem.hint("its tools are recorded anew"),
            Pinning::Enforce => {
                self.withheld = WithheldTools::All;
                problem.hint("its tools can be called once somebody has accepted them")
            }
        });
    }

    pub(crate) fn mark_too_many(&mut self, mode: Pinning) {
        self.is_pinned = false;
        self.problem = Some(PinError::TooMany.as_problem());
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
    /// Tells whether a list is exactly the one that was pinned last.
    pub(crate) fn is_same(&self, tools: &[ToolDefinition]) -> bool {
        self.digest == digest(tools)
    }

    /// Pins a list over what is pinned already.
    pub(crate) fn with(mut self, tools: &[ToolDefinition]) -> Self {
        let present: HashSet<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        let mut gone = 0;
        self.tools.retain(|name, _| {
            gone += usize::from(!present.contains(&**name));
            present.contains(&**name) || gone <= MAX_REMOVED_TOOLS
        });
        // Of tools with one name the first counts, so it is put in last.
        for tool in tools.iter().rev() {
            self.tools.insert(tool.name().to_string(), Pin::of(tool));
        }
        self.digest = digest(tools);
        self
    }

    /// Replaces texts that are longer by their hashes.
    pub(crate) fn shortened(&self, longest: usize) -> Self {
        let tools = self.tools.iter().map(|(name, pin)| (name.clone(), pin.shortened(longest)));
        Self { digest: self.digest.clone(), tools: tools.collect() }
    }

    /// Returns what is left if there is no room: whether the list is the same can still be told.
    pub(crate) fn digest_only(self) -> Self {
        Self { digest: self.digest, tools: BTreeMap::new() }
    }
}

impl Pin {
    /// Reads what a tool says.
    pub(crate) fn of(tool: &ToolDefinition) -> Self {
        let values = FIELDS.into_iter().zip(tool.raw().get_all(FIELDS));
        let said = values.filter_map(|(field, value)| {
            let value = value.filter(|value| !value.is_null())?;
            let text = value.to_text().unwrap_or_else(|| ordered(&value));
            Some((field.to_owned(), PinnedText::Text(text)))
        });
        Self(said.collect())
    }

    /// Returns what is different now.
    pub(crate) fn differences(&self, now: &Self) -> Vec<ToolDifference> {
        let differing = FIELDS.into_iter().filter_map(|field| {
            let (before, after) = (self.0.get(field), now.0.get(field));
            let is_same = match (before, after) {
                (Some(before), Some(after)) => before.is_same(after),
                (before, after) => before.is_none() && after.is_none(),
            };
            let text = |said: Option<&PinnedText>| said.and_then(PinnedText::text);
            (!is_same).then(|| ToolDifference { field, before: text(before), after: text(after) })
        });
        differing.collect()
    }

    fn shortened(&self, longest: usize) -> Self {
        let said = self.0.iter().map(|(field, said)| (field.clone(), said.shortened(longest)));
        Self(said.collect())
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
        // A name that did not come with the tool's own text counts too.
        for text in [&**tool.name(), tool.raw().as_str()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hex(&hash.finalize())
}

/// Writes a value with the members of objects in order.
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
