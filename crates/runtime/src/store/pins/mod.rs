//! The store for tool pinning, `pins/tools.json`: per definition, the tools as they were accepted
//! or first seen.
//!
//! New pins count at once in this process and are written later; without a folder they are kept in
//! memory only. Changes of existing pins are durable. If the file is damaged, or the HMAC secret of
//! its record keys (`record_keys`), a record that is not found counts as damaged: with enforced
//! pins, its tools are withheld instead of treated as new.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wharf_protocol::Json;
use wharf_protocol::view::ToolDefinition;

use super::folder_lock::{FolderLock, LOCK_TIMEOUT};
use super::record_file::{MAX_BYTES, RecordFile, Records};
use super::record_keys::{RecordKey, RecordKeys};
use crate::store::server_identity::ServerIdentity;
use crate::tools::pins::{PinError, PinReport, PinnedTools, Pinning, ToolChange};

/// The file in the folder of the pins.
pub(super) const FILE: &str = "tools.json";

/// The maximum number of records.
const MAX_RECORDS: usize = 5_000;

/// The maximum size of a record, and the size above which only short texts are stored in it.
const MAX_RECORD_BYTES: usize = 12 << 20;
const LARGE_RECORD_BYTES: usize = 8 << 20;

/// Longer texts are stored as hashes, in a normal record and in a large one.
const MAX_TEXT_BYTES: usize = 8 << 10;
const MAX_TEXT_BYTES_IN_LARGE_RECORD: usize = 80;

/// The pinned tools of all definitions.
#[derive(Debug)]
pub(crate) struct Pins {
    keys: RecordKeys,
    file: Option<RecordFile>,
    /// Hash of a definition → pins that are not written yet.
    pending: Mutex<HashMap<String, PendingPins>>,
    /// Held while the file is written, so that the last decision is written last.
    writing: Mutex<()>,
}

/// Pins that are not written yet. The tools are only parsed when they are written.
#[derive(Debug, Clone, PartialEq)]
struct PendingPins {
    server: String,
    pinned: PinnedTools,
    tools: Arc<[ToolDefinition]>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PinRecord {
    pub(super) server: String,
    pub(super) pinned: PinnedTools,
}

/// The stored pins of a definition.
enum StoredPins {
    Missing,
    Damaged,
    /// The list is exactly the pinned one.
    Same,
    Pinned(PinnedTools),
}

impl Pins {
    /// Uses a folder; without one, pins count in this process only. Nothing is read or created yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        let file = folder.as_ref().map(|folder| RecordFile::new(folder.join(FILE)).durable());
        let (pending, writing) = (Mutex::default(), Mutex::default());
        let keys = match folder {
            Some(folder) => RecordKeys::new(Some(folder)),
            None => RecordKeys::in_memory(),
        };
        Self { keys, file, pending, writing }
    }

    /// Returns the key of a definition. Each account has its own pins, because it may see other
    /// tools.
    pub(crate) fn key(&self, server: &ServerIdentity<'_>) -> RecordKey {
        self.keys.key("pins", server)
    }

    /// Returns a hash that identifies a definition and reveals nothing of it.
    pub(crate) fn definition_key(&self, server: &ServerIdentity<'_>) -> String {
        self.key(server).hash.unwrap_or_default()
    }

    /// Compares a live list with the pins, and pins it if nothing is withheld. New pins count at
    /// once; [`Pins::write_pending`] writes them.
    pub(crate) fn check(
        &self,
        key: &RecordKey,
        tools: &Arc<[ToolDefinition]>,
        mode: Pinning,
    ) -> PinReport {
        let mut report = PinReport::of_pinned();
        let pinned = match self.stored(key, tools) {
            StoredPins::Same => return report,
            StoredPins::Pinned(pinned) => {
                report.compare(&pinned, tools);
                pinned
            }
            StoredPins::Missing => {
                report.mark_first();
                PinnedTools::default()
            }
            StoredPins::Damaged => {
                report.mark_damaged(mode);
                PinnedTools::default()
            }
        };
        report.withhold(mode);
        let Some(hash) = key.hash.clone() else { return report };
        let pending = PendingPins { server: key.server.clone(), pinned, tools: Arc::clone(tools) };
        if !pending.fits() {
            report.mark_too_large(MAX_RECORD_BYTES, mode);
        } else if !report.withholds_anything() {
            self.pending().insert(hash, pending);
        }
        report
    }

    /// Compares a cached list with the pins and changes nothing. It withholds the same tools as a
    /// live list would.
    pub(crate) fn compare(
        &self,
        key: &RecordKey,
        tools: &[ToolDefinition],
        mode: Pinning,
    ) -> PinReport {
        let mut report = PinReport::of_pinned();
        match self.stored(key, tools) {
            StoredPins::Missing => report = PinReport::default(),
            StoredPins::Same => {}
            StoredPins::Pinned(pinned) => report.compare(&pinned, tools),
            StoredPins::Damaged => report.mark_damaged(mode),
        }
        report.withhold(mode);
        report
    }

    /// Returns all differences between a live list and the pins, with the fields of new tools. If
    /// the pins cannot be read, every tool is new.
    pub(crate) fn review(&self, key: &RecordKey, tools: &[ToolDefinition]) -> Vec<ToolChange> {
        let mut report = PinReport::of_pinned();
        match self.stored(key, tools) {
            StoredPins::Pinned(pinned) => report.compare(&pinned, tools),
            StoredPins::Damaged => report.compare(&PinnedTools::default(), tools),
            StoredPins::Missing | StoredPins::Same => {}
        }
        report.into_review(tools)
    }

    /// Pins tools as they are, because the person has accepted them.
    pub(crate) fn accept(&self, key: &RecordKey, tools: &[ToolDefinition]) -> Result<(), PinError> {
        let hash = key.hash.clone().ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
        let (server, pinned) = (key.server.clone(), PinnedTools::default());
        let pending = PendingPins { server, pinned, tools: tools.into() };
        if !pending.fits() {
            return Err(PinError::TooLarge { limit: MAX_RECORD_BYTES });
        }
        if self.file.is_none() {
            self.pending().insert(hash, pending);
            return Ok(());
        }
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(LOCK_TIMEOUT, &[(hash.clone(), pending)])?;
        self.pending().remove(&hash);
        Ok(())
    }

    /// Tells whether there are unwritten pins.
    pub(crate) fn has_pending(&self) -> bool {
        self.file.is_some() && !self.pending().is_empty()
    }

    /// Writes the pins. Waits for the disk, and at most `wait` for other processes. Pins that
    /// cannot be written still count in this process.
    pub(crate) fn write_pending(&self, wait: Duration) {
        if self.file.is_none() {
            return;
        }
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let pending: Vec<(String, PendingPins)> =
            self.pending().iter().map(|(hash, pending)| (hash.clone(), pending.clone())).collect();
        if pending.is_empty() {
            return;
        }
        match self.write(wait, &pending) {
            Err(error) => tracing::warn!(%error, "could not pin tools"),
            Ok(()) => self.pending().retain(|hash, now| {
                // A newer list may have arrived in the meantime.
                !pending.iter().any(|(other, then)| other == hash && then == now)
            }),
        }
    }

    /// Adds lists of tools to the pins that are in the file now, including those of other
    /// processes.
    fn write(&self, wait: Duration, lists: &[(String, PendingPins)]) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let seal = self.seal();
        file.change(&FolderLock::new(self.keys.folder(), wait), |records| {
            if records.seal != seal && !records.is_empty() {
                *records = Records::after_damage();
            }
            records.seal = seal;
            for (hash, PendingPins { server, tools, .. }) in lists {
                let pinned = records.get(hash).and_then(Json::to::<PinRecord>);
                let pinned = pinned.map(|record| record.pinned).unwrap_or_default();
                if let Some(record) = record(server, &pinned.with(tools)) {
                    records.put(hash, record);
                }
            }
            shorten_oldest(records);
            records.keep_newest(MAX_RECORDS);
        })
    }

    /// Returns a hash that tells whether the keys of the file were made with the current secret.
    fn seal(&self) -> Option<String> {
        self.keys.hash(&["seal"])
    }

    /// Returns the pins of a definition, including unwritten ones.
    fn stored(&self, key: &RecordKey, tools: &[ToolDefinition]) -> StoredPins {
        let Some(hash) = &key.hash else { return StoredPins::Damaged };
        match self.pending().get(hash) {
            Some(pending) if *pending.tools == *tools => return StoredPins::Same,
            Some(pending) => return StoredPins::Pinned(pending.merged()),
            None => {}
        }
        let Some(file) = &self.file else { return StoredPins::Missing };
        let Ok(records) = file.load() else { return StoredPins::Damaged };
        let is_sealed = records.is_empty() || records.seal == self.seal();
        match records.get(hash).map(Json::to::<PinRecord>) {
            _ if !is_sealed => StoredPins::Damaged,
            None if records.may_have_lost_records() => StoredPins::Damaged,
            None => StoredPins::Missing,
            Some(None) => StoredPins::Damaged,
            Some(Some(record)) if record.pinned.is_same(tools) => StoredPins::Same,
            Some(Some(record)) => StoredPins::Pinned(record.pinned),
        }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<String, PendingPins>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingPins {
    /// Tells whether it can be written. Only a very long list must be parsed for that.
    fn fits(&self) -> bool {
        let bytes: usize = self.tools.iter().map(|tool| tool.raw().as_str().len()).sum();
        bytes <= LARGE_RECORD_BYTES || record(&self.server, &self.merged()).is_some()
    }

    fn merged(&self) -> PinnedTools {
        self.pinned.clone().with(&self.tools)
    }
}

/// Returns the record of these pins; `None` if it is too large.
fn record(server: &str, pinned: &PinnedTools) -> Option<Json> {
    let shortened = |longest| {
        let record = PinRecord { server: server.to_owned(), pinned: pinned.shortened(longest) };
        Json::encode(&record).ok()
    };
    let usual =
        shortened(MAX_TEXT_BYTES).filter(|record| record.as_str().len() <= LARGE_RECORD_BYTES);
    let record = usual.or_else(|| shortened(MAX_TEXT_BYTES_IN_LARGE_RECORD))?;
    (record.as_str().len() <= MAX_RECORD_BYTES).then_some(record)
}

/// Reduces the oldest records to the hash of their list until all records fit.
fn shorten_oldest(records: &mut Records) {
    let mut over = records.bytes().saturating_sub(MAX_BYTES);
    records.replace(|text| {
        if over == 0 {
            return None;
        }
        let PinRecord { server, pinned } = text.to()?;
        let short = Json::encode(&PinRecord { server, pinned: pinned.digest_only() }).ok()?;
        over = over.saturating_sub(text.as_str().len().saturating_sub(short.as_str().len()));
        Some(short)
    });
}
