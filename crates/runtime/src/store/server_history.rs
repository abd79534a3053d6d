//! The persistent data of one runtime: tool cache, last attempts, tool names, pins.
//!
//! Tools are published first and written later (the write queue): with a hundred servers, writing
//! would otherwise take as long as connecting. Queued data is lost when the process is killed, and
//! the next run fetches it again.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use wharf_config::Env;
use wharf_protocol::view::{ClientCapabilities, ToolDefinition};

use super::attempts::{AttemptsFile, LastAttempt, LoadedAttempts};
use super::folder_lock::FolderLock;
use super::pins::Pins;
use super::record_keys::RecordKey;
use super::server_identity::{ServerIdentity, has_lasting_identity};
use super::tool_cache::{CachedServer, ToolCache};
use super::tool_names::ToolNamesFile;
use crate::tools::name_table::NameTable;
use crate::tools::pins::{PinError, PinReport, Pinning, ToolChange};
use crate::trust_gate::TrustedServer;

/// The persistent data about the servers of a runtime.
pub(crate) struct ServerHistory {
    env: Arc<Env>,
    cache_folder: Option<PathBuf>,
    cache: ToolCache,
    attempts: AttemptsFile,
    /// The attempts of earlier runs, read when they are first needed, which is rare.
    earlier: OnceLock<LoadedAttempts>,
    pins: Pins,
    /// The pins of servers that could not be identified in a later run.
    pins_in_memory: Pins,
    /// The names given to tools so far, and the file that they are read from.
    names: Arc<Mutex<NameTable>>,
    names_file: ToolNamesFile,
    queue: Mutex<WriteQueue>,
    /// Held while files are written.
    writing: Mutex<()>,
}

/// Records that are not written yet; only the latest of each server is kept.
#[derive(Default)]
struct WriteQueue {
    tools: Vec<(RecordKey, CachedServer)>,
    attempts: Vec<(Arc<TrustedServer>, LastAttempt)>,
}

impl ServerHistory {
    /// Uses the folders of the cache and of the pins; without a folder, that part is not stored.
    pub(crate) fn open(
        env: &Arc<Env>,
        cache: Option<PathBuf>,
        pins: Option<PathBuf>,
        declared: &ClientCapabilities,
    ) -> Self {
        let names_file = ToolNamesFile::open(cache.as_deref());
        Self {
            env: Arc::clone(env),
            cache: ToolCache::open(cache.clone()).for_client(declared),
            attempts: AttemptsFile::open(cache.as_deref()),
            earlier: OnceLock::new(),
            pins: Pins::open(pins),
            pins_in_memory: Pins::open(None),
            names: Arc::new(Mutex::new(names_file.load())),
            names_file,
            queue: Mutex::default(),
            writing: Mutex::default(),
            cache_folder: cache,
        }
    }

    /// Returns the names given to tools, for a registry that is built later.
    pub(crate) fn tool_names(&self) -> Arc<Mutex<NameTable>> {
        Arc::clone(&self.names)
    }

    /// Locks the names given to tools.
    pub(crate) fn names(&self) -> MutexGuard<'_, NameTable> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the secrets for the keys early, while the caller waits for a server.
    pub(crate) fn prepare(&self, server: &TrustedServer) {
        drop(self.cache_key(server));
        drop(self.definition_key(server));
    }

    /// Tells whether tools are cached.
    pub(crate) fn caches_tools(&self) -> bool {
        self.cache_folder.is_some()
    }

    /// Reads what a server listed in an earlier run.
    pub(crate) fn cached(&self, server: &TrustedServer) -> Option<CachedServer> {
        // With an empty cache, no secret for the key is created.
        if self.cache.is_empty() { None } else { self.cache.load(&self.cache_key(server)) }
    }

    /// Caches the tools of a server for the next run.
    pub(crate) fn cache(&self, server: &TrustedServer, listed: CachedServer) {
        let key = self.cache_key(server);
        let mut queue = self.queue();
        queue.tools.retain(|(other, _)| *other != key);
        queue.tools.push((key, listed));
    }

    /// Records how an attempt to connect has just ended.
    pub(crate) fn note_attempt(&self, server: &Arc<TrustedServer>, error: Option<&str>) {
        let mut queue = self.queue();
        queue.attempts.retain(|(other, _)| !Arc::ptr_eq(other, server));
        queue.attempts.push((Arc::clone(server), LastAttempt::now(error)));
    }

    /// Returns the last attempt of an earlier run to connect to a server.
    pub(crate) fn earlier_attempt(&self, server: &TrustedServer) -> Option<LastAttempt> {
        let earlier = self.earlier.get_or_init(|| self.attempts.load());
        if earlier.is_empty() { None } else { earlier.get(&self.cache_key(server)) }
    }

    /// Compares a live list with the pins, and pins new tools if that is allowed.
    pub(crate) fn check_pins(
        &self,
        server: &TrustedServer,
        tools: &Arc<[ToolDefinition]>,
        mode: Pinning,
    ) -> PinReport {
        self.pins_of(server).check(&self.pin_key(server), tools, mode)
    }

    /// Compares a cached list with the pins.
    pub(crate) fn compare_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
        mode: Pinning,
    ) -> PinReport {
        self.pins_of(server).compare(&self.pin_key(server), tools, mode)
    }

    /// Returns in full how a live list differs from the pins.
    pub(crate) fn review_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
    ) -> Vec<ToolChange> {
        self.pins_of(server).review(&self.pin_key(server), tools)
    }

    /// Pins tools that the person has accepted.
    pub(crate) fn accept_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
    ) -> Result<(), PinError> {
        self.pins_of(server).accept(&self.pin_key(server), tools)
    }

    /// Returns a hash that identifies a definition and reveals nothing of it.
    pub(crate) fn definition_key(&self, server: &TrustedServer) -> String {
        self.pins_of(server).definition_key(&ServerIdentity::new(server, &self.env))
    }

    /// Tells whether records are queued.
    pub(crate) fn has_unwritten(&self) -> bool {
        let queue = self.queue();
        !queue.tools.is_empty() || !queue.attempts.is_empty() || self.pins.has_pending()
    }

    /// Writes the queue and the names of tools. Waits for the disk, for other writers of this
    /// runtime, and per folder at most `wait` for other processes.
    pub(crate) fn write(&self, wait: Duration) {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.pins.write_pending(wait);
        let lock = FolderLock::new(self.cache_folder.as_deref(), wait);
        let WriteQueue { tools, attempts } = std::mem::take(&mut *self.queue());
        self.cache.store(&lock, &tools);
        let attempts = attempts.into_iter();
        let keyed = attempts.map(|(server, attempt)| (self.cache_key(&server), attempt));
        self.attempts.store(&lock, &keyed.collect::<Vec<_>>());
        let unsaved = self.names().take_unsaved();
        if let Some(Err(error)) = unsaved.map(|unsaved| self.names_file.save(&lock, &unsaved)) {
            tracing::debug!(%error, "could not write the names of tools");
            self.names().mark_unsaved();
        }
    }

    fn pins_of(&self, server: &TrustedServer) -> &Pins {
        if has_lasting_identity(server) { &self.pins } else { &self.pins_in_memory }
    }

    fn cache_key(&self, server: &TrustedServer) -> RecordKey {
        self.cache.key(&ServerIdentity::new(server, &self.env))
    }

    fn pin_key(&self, server: &TrustedServer) -> RecordKey {
        self.pins_of(server).key(&ServerIdentity::new(server, &self.env))
    }

    fn queue(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
