//! Notices when a tool is no longer what it was: new words in a description can steer a model.
//!
//! At the first live list of a definition its tools are pinned. `observe` reports what is different
//! and pins that; `enforce` withholds what is different until the person accepts it. Tools that are
//! gone stay pinned, so that they cannot come back as something else. The file is in `file`.

mod file;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use wharf_config::{Problem, Secret, Settings};
use wharf_protocol::view::Tool;

use super::files::{LOCK_WAIT, Turn};
use super::keys::KeyedFolder;
use super::pack::{Change, Found, Pack, Put};
use super::written;
use file::{Known, Pin, PinFile};

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
        let is_enforced = settings.says("tools.pinning", "enforce");
        if is_enforced { Self::Enforce } else { Self::Observe }
    }
}

/// The file in the folder of the pins.
const FILE: &str = "tools.pack";

/// The most bytes and records in it.
const MOST_BYTES: u64 = 32 << 20;
const MOST_RECORDS: usize = 20_000;

/// What is shorter is not worth making shorter.
const SHORT: u64 = 512;

/// A list of more bytes may be too long to be written down.
const LARGE: usize = 8 << 20;

/// The pinned tools of all definitions.
#[derive(Debug)]
pub(crate) struct Pins {
    keys: KeyedFolder,
    pack: Option<Pack>,
    /// Key → what is pinned and not yet written.
    pending: Mutex<HashMap<String, Pending>>,
    /// Held by whoever writes: what is written last must be what was decided last.
    writing: Mutex<()>,
}

/// Which definition is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PinKey(Option<String>);

impl fmt::Display for PinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or_default())
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
    withheld: Withheld,
    problem: Option<Problem>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Withheld {
    #[default]
    None,
    Different,
    All,
}

/// A tool that is not as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChange {
    /// Its name on the server: foreign text.
    pub tool: String,
    /// Whether it is new or different.
    pub kind: ChangeKind,
    /// What is different; empty for a new tool, except in a review.
    pub differences: Vec<Difference>,
}

/// How a tool differs from the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    New,
    /// It says something else than before.
    Changed,
}

/// One part of a tool before and now: foreign text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
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

impl Pins {
    /// Uses a folder, or pins nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        let pack = folder.as_ref().map(|folder| Pack::new(folder.join(FILE)).forced());
        let (pending, writing) = (Mutex::default(), Mutex::default());
        Self { keys: KeyedFolder::new(folder), pack, pending, writing }
    }

    /// Returns the key of a definition. Accounts that see different tools have pins of their own.
    pub(crate) fn key(&self, server: &str, identity: &Secret, credential: &str) -> PinKey {
        PinKey(self.keys.name(&["pins", server, identity.expose(), credential]))
    }

    /// Compares a live list with the pins, and pins what may be pinned. That counts at once; it is
    /// written by [`Pins::write_pending`].
    pub(crate) fn check(&self, key: &PinKey, tools: &Arc<[Tool]>, mode: Pinning) -> PinReport {
        let mut report = PinReport { is_pinned: true, ..PinReport::default() };
        let (pack, key) = match self.place(key) {
            Place::None => return PinReport::default(),
            Place::Unknown => {
                report.damaged(mode);
                return report;
            }
            Place::At(pack, key) => (pack, key),
        };
        let pinned = match self.read(pack, key, tools) {
            Known::Same => return report,
            Known::Pinned(pinned) => pinned,
            Known::Missing => {
                report.is_first = true;
                PinFile::default()
            }
            Known::Damaged => {
                report.damaged(mode);
                PinFile::default()
            }
        };
        if !report.is_first && report.problem.is_none() {
            report.compare(&pinned, tools);
        }
        report.withhold(mode);
        let pending = Pending { pinned, tools: Arc::clone(tools) };
        if !pending.fits() {
            report.too_many(mode);
        } else if report.withheld == Withheld::None {
            self.pending().insert(key.to_owned(), pending);
        }
        report
    }

    /// Tells whether there are pins to write.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending().is_empty()
    }

    /// Writes the pins. Blocks for as long as the disk takes, and waits for other processes. What cannot be written counts as long
    /// as this process lasts.
    pub(crate) fn write_pending(&self, wait: Duration) {
        let Some(pack) = &self.pack else { return };
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let pending: Vec<(String, Pending)> =
            self.pending().iter().map(|(key, pending)| (key.clone(), pending.clone())).collect();
        if pending.is_empty() {
            return;
        }
        let lists = pending.iter().map(|(key, pending)| (key.as_str(), &*pending.tools));
        match self.write(pack, wait, &lists.collect::<Vec<_>>()) {
            Err(error) => tracing::warn!(%error, "could not write down what tools look like"),
            Ok(()) => self.pending().retain(|key, now| {
                // More may have come to it in the meantime.
                !pending.iter().any(|(other, then)| other == key && then == now)
            }),
        }
    }

    /// Pins lists of tools over what is pinned, by whichever process. What was pinned longest ago makes
    /// room if there is too much: of that only whether it is still the same can be told.
    fn write(&self, pack: &Pack, wait: Duration, lists: &[(&str, &[Tool])]) -> io::Result<()> {
        let turn = Turn::new(self.keys.folder(), wait);
        let seal = self.seal();
        pack.change(&turn, seal.as_deref(), |now| {
            let mut puts: Vec<Put> = Vec::with_capacity(lists.len());
            for (key, tools) in lists {
                let pinned = match now.get(key) {
                    Found::Text(text) => file::parse(&text).unwrap_or_default(),
                    Found::Nothing | Found::Damaged => PinFile::default(),
                };
                puts.extend(put(key, &pinned.with(tools)));
            }
            let new: u64 = puts.iter().map(|put| put.text.len() as u64).sum();
            let all: u64 = now.texts().iter().map(|text| text.bytes).sum();
            let mut over = (all + new).saturating_sub(MOST_BYTES);
            for text in now.texts().iter().filter(|text| text.bytes > SHORT) {
                if over == 0 {
                    break;
                }
                if let Found::Text(record) = now.get(text.key())
                    && !lists.iter().any(|(key, _)| *key == text.key())
                    && let Some(short) = file::shortest(&record)
                {
                    over = over.saturating_sub(text.bytes);
                    puts.extend(put(text.key(), &short));
                }
            }
            let beyond = now.texts().len().saturating_sub(MOST_RECORDS);
            let gone = now.texts().iter().take(beyond).map(|text| text.key().to_owned());
            Change { gone: gone.collect(), puts }
        })
    }

    /// Returns what tells whether the records are named by the key that is there now.
    fn seal(&self) -> Option<String> {
        self.keys.name(&["seal"])
    }

    fn place<'a>(&'a self, key: &'a PinKey) -> Place<'a> {
        match (&self.pack, key.0.as_deref()) {
            (None, _) => Place::None,
            (Some(_), None) => Place::Unknown,
            (Some(pack), Some(key)) => Place::At(pack, key),
        }
    }

    /// Returns what is known of a definition's tools, written or not.
    fn read(&self, pack: &Pack, key: &str, tools: &[Tool]) -> Known {
        match self.pending().get(key) {
            Some(pending) if *pending.tools == *tools => return Known::Same,
            Some(pending) => return Known::Pinned(pending.merged()),
            None => {}
        }
        match pack.get(self.seal().as_deref(), key) {
            Found::Text(text) => file::read(&text, tools),
            Found::Nothing => Known::Missing,
            Found::Damaged => Known::Damaged,
        }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares a remembered list with the pins and changes nothing: what is withheld must not come
    /// back through the cache.
    pub(crate) fn look(&self, key: &PinKey, tools: &[Tool], mode: Pinning) -> PinReport {
        let mut report = PinReport { is_pinned: true, ..PinReport::default() };
        let known = match self.place(key) {
            Place::None => return PinReport::default(),
            Place::Unknown => Known::Damaged,
            Place::At(pack, key) => self.read(pack, key, tools),
        };
        match known {
            Known::Same => {}
            Known::Pinned(pinned) => report.compare(&pinned, tools),
            Known::Missing => report.is_pinned = false,
            Known::Damaged => report.damaged(mode),
        }
        report.withhold(mode);
        report
    }

    /// Returns how a live list differs from the pins, in full: with what new tools say, and every
    /// tool as new if the pins cannot be read.
    pub(crate) fn review(&self, key: &PinKey, tools: &[Tool]) -> Vec<ToolChange> {
        let mut report = self.look(key, tools, Pinning::Enforce);
        if report.withheld == Withheld::All {
            report.changes.clear();
            report.compare(&PinFile::default(), tools);
        }
        for change in report.changes.iter_mut().filter(|change| change.kind == ChangeKind::New) {
            let tool = tools.iter().find(|tool| tool.name() == change.tool.as_str());
            let said = tool.map(|tool| Pin::default().differences(&Pin::of(tool)));
            change.differences = said.unwrap_or_default();
        }
        report.changes
    }

    /// Pins tools as they are, because the person has accepted them.
    pub(crate) fn accept(&self, key: &PinKey, tools: &[Tool]) -> Result<(), PinError> {
        let (pack, key) = match self.place(key) {
            Place::None => return Ok(()),
            Place::Unknown => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
            Place::At(pack, key) => (pack, key),
        };
        let pending = Pending { pinned: PinFile::default(), tools: tools.into() };
        if !pending.fits() {
            return Err(PinError::TooMany);
        }
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(pack, LOCK_WAIT, &[(key, tools)])?;
        self.pending().remove(key);
        Ok(())
    }
}

/// Where the pins of a definition are.
enum Place<'a> {
    /// Nowhere: nothing is pinned.
    None,
    /// There are some, but which ones cannot be told.
    Unknown,
    At(&'a Pack, &'a str),
}

fn put(key: &str, pinned: &PinFile) -> Option<Put> {
    let text = pinned.write()?;
    Some(Put { key: key.to_owned(), saved: SystemTime::now(), count: pinned.count(), text })
}

/// Tools that are pinned and not yet written. Putting them together is left for when nobody waits.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    pinned: PinFile,
    tools: Arc<[Tool]>,
}

impl Pending {
    /// Tells whether it can be written down. Only a list that is very long is looked at for that.
    fn fits(&self) -> bool {
        written::length(&self.tools) <= LARGE || self.merged().write().is_some()
    }

    fn merged(&self) -> PinFile {
        self.pinned.clone().with(&self.tools)
    }
}

impl PinReport {
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
            Withheld::None => false,
            Withheld::Different => self.different.contains(tool),
            Withheld::All => true,
        }
    }

    /// Returns what the person should know, in at most a few problems.
    pub fn problems(&self, server: &str) -> Vec<Problem> {
        const MOST_TOLD: usize = 10;
        let what_next = if self.withheld == Withheld::None { "" } else { "; withheld" };
        let told = self.changes.iter().take(MOST_TOLD).map(|change| {
            let fields: Vec<&str> =
                change.differences.iter().map(|difference| difference.field).collect();
            let what = match change.kind {
                ChangeKind::New => "is new".to_owned(),
                ChangeKind::Changed => format!("has changed ({})", fields.join(", ")),
            };
            format!("tool \"{}\" {what}{what_next}", change.tool)
        });
        let more = self.changes.len().saturating_sub(MOST_TOLD);
        let more = (more > 0).then(|| format!("{more} more tools are new or changed{what_next}"));
        let changes = told.chain(more).map(|message| {
            let problem = Problem::warning("tool-changed", message);
            if self.withheld == Withheld::None {
                problem.hint("look at what it says now before you rely on it")
            } else {
                problem.hint("it can be called once somebody has seen the change and accepted it")
            }
        });
        let all = self.problem.clone().into_iter().chain(changes);
        all.map(|problem| problem.of_server(server)).collect()
    }

    fn withhold(&mut self, mode: Pinning) {
        if mode == Pinning::Enforce && !self.changes.is_empty() {
            self.withheld = Withheld::Different;
        }
    }

    fn damaged(&mut self, mode: Pinning) {
        let message = "the record of this server's tools is damaged";
        let problem = Problem::warning("pins", message);
        self.is_pinned = false;
        self.problem = Some(match mode {
            Pinning::Observe => problem.hint("its tools are recorded anew"),
            Pinning::Enforce => {
                self.withheld = Withheld::All;
                problem.hint("its tools can be called once somebody has accepted them")
            }
        });
    }

    fn too_many(&mut self, mode: Pinning) {
        self.is_pinned = false;
        self.problem = Some(PinError::TooMany.as_problem());
        if mode == Pinning::Enforce {
            self.withheld = Withheld::All;
        }
    }

    fn compare(&mut self, pinned: &PinFile, tools: &[Tool]) {
        let mut seen = HashSet::new();
        for tool in tools.iter().filter(|tool| seen.insert(tool.name())) {
            let (kind, differences) = match pinned.get(tool.name()) {
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
