//! What is pinned, `pins/tools.json`: per definition, the tools as they were accepted or first seen.
//!
//! What may be pinned counts at once in this process and is written when nobody waits. Changes of
//! existing pins wait for the disk. If the file or the secret of its keys is damaged, missing records
//! count as damaged, too: with enforced pins their tools are withheld instead of taken for new.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wharf_protocol::Json;
use wharf_protocol::view::Tool;

use super::folder_lock::{FolderLock, LOCK_WAIT};
use super::record_file::{MOST_BYTES, RecordFile, Records};
use super::record_keys::{RecordKey, RecordKeys};
use crate::store::server_identity::ServerIdentity;
use crate::tools::pins::{PinError, PinReport, PinnedTools, Pinning, ToolChange};

/// The file in the folder of the pins.
pub(super) const FILE: &str = "tools.json";

/// How many records are kept.
const MOST_RECORDS: usize = 5_000;

/// How long a record may be, and from which length on only short texts are kept in it.
const MOST_RECORD_BYTES: usize = 12 << 20;
const LARGE: usize = 8 << 20;

/// Longer texts are kept as hashes, in a usual record and in a large one.
const LONGEST: usize = 8 << 10;
const LONGEST_IN_A_LARGE_RECORD: usize = 80;

/// The pinned tools of all definitions.
#[derive(Debug)]
pub(crate) struct Pins {
    keys: RecordKeys,
    file: Option<RecordFile>,
    /// Hash of a definition → what is pinned and not yet written.
    pending: Mutex<HashMap<String, Pending>>,
    /// Held by whoever writes: what is written last must be what was decided last.
    writing: Mutex<()>,
}

/// Tools that are pinned and not yet written. They are taken apart when nobody waits.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    server: String,
    pinned: PinnedTools,
    tools: Arc<[Tool]>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) server: String,
    pub(super) pinned: PinnedTools,
}

/// What is known of a definition's tools.
enum KnownPins {
    /// Nothing is kept.
    Off,
    Missing,
    Damaged,
    /// They are pinned exactly like that.
    Same,
    Pinned(PinnedTools),
}

impl Pins {
    /// Uses a folder, or pins nothing at all. Nothing is read or made yet.
    pub(crate) fn open(folder: Option<PathBuf>) -> Self {
        let file = folder.as_ref().map(|folder| RecordFile::new(folder.join(FILE)).durable());
        let (pending, writing) = (Mutex::default(), Mutex::default());
        Self { keys: RecordKeys::new(folder), file, pending, writing }
    }

    /// Returns the key of a definition. Accounts that see different tools have pins of their own.
    pub(crate) fn key(&self, server: &ServerIdentity<'_>) -> RecordKey {
        self.keys.key("pins", server)
    }

    /// Returns a text that identifies a definition and contains nothing of it.
    pub(crate) fn definition_key(&self, server: &ServerIdentity<'_>) -> String {
        self.key(server).hash.unwrap_or_default()
    }

    /// Compares a live list with the pins, and pins what may be pinned. That counts at once; it is
    /// written by [`Pins::write_pending`].
    pub(crate) fn check(&self, key: &RecordKey, tools: &Arc<[Tool]>, mode: Pinning) -> PinReport {
        let mut report = PinReport::of_pinned();
        let pinned = match self.known(key, tools) {
            KnownPins::Off => return PinReport::default(),
            KnownPins::Same => return report,
            KnownPins::Pinned(pinned) => {
                report.compare(&pinned, tools);
                pinned
            }
            KnownPins::Missing => {
                report.first();
                PinnedTools::default()
            }
            KnownPins::Damaged => {
                report.damaged(mode);
                PinnedTools::default()
            }
        };
        report.withhold(mode);
        let Some(hash) = key.hash.clone() else { return report };
        let pending = Pending { server: key.server.clone(), pinned, tools: Arc::clone(tools) };
        if !pending.fits() {
            report.too_many(mode);
        } else if !report.withholds_anything() {
            self.pending().insert(hash, pending);
        }
        report
    }

    /// Compares a cached list with the pins and changes nothing: what is withheld must not come back
    /// through the cache.
    pub(crate) fn compare(&self, key: &RecordKey, tools: &[Tool], mode: Pinning) -> PinReport {
        let mut report = PinReport::of_pinned();
        match self.known(key, tools) {
            KnownPins::Off | KnownPins::Missing => report = PinReport::default(),
            KnownPins::Same => {}
            KnownPins::Pinned(pinned) => report.compare(&pinned, tools),
            KnownPins::Damaged => report.damaged(mode),
        }
        report.withhold(mode);
        report
    }

    /// Returns how a live list differs from the pins, in full: with what new tools say, and every
    /// tool as new if the pins cannot be read.
    pub(crate) fn review(&self, key: &RecordKey, tools: &[Tool]) -> Vec<ToolChange> {
        let mut report = PinReport::of_pinned();
        match self.known(key, tools) {
            KnownPins::Pinned(pinned) => report.compare(&pinned, tools),
            KnownPins::Damaged => report.compare(&PinnedTools::default(), tools),
            KnownPins::Off | KnownPins::Missing | KnownPins::Same => {}
        }
        report.into_review(tools)
    }

    /// Pins tools as they are, because the person has accepted them.
    pub(crate) fn accept(&self, key: &RecordKey, tools: &[Tool]) -> Result<(), PinError> {
        if self.file.is_none() {
            return Ok(());
        }
        let hash = key.hash.clone().ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
        let (server, pinned) = (key.server.clone(), PinnedTools::default());
        let pending = Pending { server, pinned, tools: tools.into() };
        if !pending.fits() {
            return Err(PinError::TooMany);
        }
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(LOCK_WAIT, &[(hash.clone(), pending)])?;
        self.pending().remove(&hash);
        Ok(())
    }

    /// Tells whether there are pins to write.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending().is_empty()
    }

    /// Writes the pins. Waits for the disk, and for other processes at most `wait`. What cannot be
    /// written counts as long as this process lasts.
    pub(crate) fn write_pending(&self, wait: Duration) {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let pending: Vec<(String, Pending)> =
            self.pending().iter().map(|(hash, pending)| (hash.clone(), pending.clone())).collect();
        if pending.is_empty() {
            return;
        }
        match self.write(wait, &pending) {
            Err(error) => tracing::warn!(%error, "could not pin tools"),
            Ok(()) => self.pending().retain(|hash, now| {
                // Another list may have come in the meantime.
                !pending.iter().any(|(other, then)| other == hash && then == now)
            }),
        }
    }

    /// Pins lists of tools over what is pinned at this moment, by whichever process.
    fn write(&self, wait: Duration, lists: &[(String, Pending)]) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let seal = self.seal();
        file.change(&FolderLock::new(self.keys.folder(), wait), |records| {
            if records.seal != seal && !records.is_empty() {
                *records = Records::after_damage();
            }
            records.seal = seal;
            for (hash, Pending { server, tools, .. }) in lists {
                let pinned = records.get(hash).and_then(Json::to::<Record>);
                let pinned = pinned.map(|record| record.pinned).unwrap_or_default();
                if let Some(record) = record(server, &pinned.with(tools)) {
                    records.put(hash, record);
                }
            }
            shorten_oldest(records);
            records.keep_newest(MOST_RECORDS);
        })
    }

    /// Returns what tells whether the keys of the file were made with the secret that is there now.
    fn seal(&self) -> Option<String> {
        self.keys.hash(&["seal"])
    }

    /// Returns what is known of a definition's tools, written or not.
    fn known(&self, key: &RecordKey, tools: &[Tool]) -> KnownPins {
        let Some(file) = &self.file else { return KnownPins::Off };
        let Some(hash) = &key.hash else { return KnownPins::Damaged };
        match self.pending().get(hash) {
            Some(pending) if *pending.tools == *tools => return KnownPins::Same,
            Some(pending) => return KnownPins::Pinned(pending.merged()),
            None => {}
        }
        let Ok(records) = file.load() else { return KnownPins::Damaged };
        let is_sealed = records.is_empty() || records.seal == self.seal();
        match records.get(hash).map(Json::to::<Record>) {
            _ if !is_sealed => KnownPins::Damaged,
            None if records.has_lost_records() => KnownPins::Damaged,
            None => KnownPins::Missing,
            Some(None) => KnownPins::Damaged,
            Some(Some(record)) if record.pinned.is_same(tools) => KnownPins::Same,
            Some(Some(record)) => KnownPins::Pinned(record.pinned),
        }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Tells whether it can be written. Only a very long list has to be taken apart for that.
    fn fits(&self) -> bool {
        let bytes: usize = self.tools.iter().map(|tool| tool.raw().as_str().len()).sum();
        bytes <= LARGE || record(&self.server, &self.merged()).is_some()
    }

    fn merged(&self) -> PinnedTools {
        self.pinned.clone().with(&self.tools)
    }
}

/// Makes a record; nothing if there are too many tools.
fn record(server: &str, pinned: &PinnedTools) -> Option<Json> {
    let shortened = |longest| {
        let record = Record { server: server.to_owned(), pinned: pinned.shortened(longest) };
        Json::encode(&record).ok()
    };
    let usual = shortened(LONGEST).filter(|record| record.as_str().len() <= LARGE);
    let record = usual.or_else(|| shortened(LONGEST_IN_A_LARGE_RECORD))?;
    (record.as_str().len() <= MOST_RECORD_BYTES).then_some(record)
}

/// Keeps only the hashes of the oldest lists if there is too much.
fn shorten_oldest(records: &mut Records) {
    let mut over = records.bytes().saturating_sub(MOST_BYTES);
    records.replace(|text| {
        if over == 0 {
            return None;
        }
        let Record { server, pinned } = text.to()?;
        let short = Json::encode(&Record { server, pinned: pinned.digest_only() }).ok()?;
        over = over.saturating_sub(text.as_str().len().saturating_sub(short.as_str().len()));
        Some(short)
    });
}
