//! Everything that one runtime reads and writes about its servers from one run to the next.
//!
//! Tools are handed out first and written afterwards (the write queue): with a hundred servers,
//! writing would otherwise take as long as connecting. What is not written when the process is
//! killed is found out again by the next run.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use wharf_config::Env;
use wharf_protocol::view::{ClientCapabilities, ToolDefinition};

use super::attempts::{AttemptsFile, LastAttempt, LoadedAttempts};
use super::folder_lock::FolderLock;
use super::pins::Pins;
use super::record_keys::RecordKey;
use super::server_identity::ServerIdentity;
use super::tool_cache::{CachedServer, ToolCache};
use super::tool_names::ToolNamesFile;
use crate::tools::name_table::NameTable;
use crate::tools::pins::{PinError, PinReport, Pinning, ToolChange};
use crate::trust_gate::TrustedServer;

/// What is kept about the servers of a runtime.
pub(crate) struct ServerHistory {
    env: Arc<Env>,
    cache_folder: Option<PathBuf>,
    cache: ToolCache,
    attempts: AttemptsFile,
    /// How attempts ended in earlier runs; read when somebody asks, which is hardly ever.
    earlier: OnceLock<LoadedAttempts>,
    pins: Pins,
    /// The names given to tools so far, and the file that they are read from.
    names: Arc<Mutex<NameTable>>,
    names_file: ToolNamesFile,
    queue: Mutex<WriteQueue>,
    /// Held by whoever writes.
    writing: Mutex<()>,
}

/// What waits to be written; of each record only the latest counts.
#[derive(Default)]
struct WriteQueue {
    tools: Vec<(RecordKey, CachedServer)>,
    attempts: Vec<(Arc<TrustedServer>, LastAttempt)>,
}

impl ServerHistory {
    /// Uses the folders of the cache and the pins; without one, that part is not kept.
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

    /// Makes the files that the first record needs, while the caller waits for something else.
    pub(crate) fn prepare(&self, server: &TrustedServer) {
        drop(self.cache_key(server));
        drop(self.definition_key(server));
    }

    /// Tells whether tools are cached at all.
    pub(crate) fn caches_tools(&self) -> bool {
        self.cache_folder.is_some()
    }

    /// Reads what a server listed in an earlier run.
    pub(crate) fn cached(&self, server: &TrustedServer) -> Option<CachedServer> {
        // On the very first run there is no secret for keys yet, and nothing to find.
        if self.cache.is_empty() { None } else { self.cache.load(&self.cache_key(server)) }
    }

    /// Caches the tools of a server for the next run.
    pub(crate) fn cache(&self, server: &TrustedServer, listed: CachedServer) {
        let key = self.cache_key(server);
        let mut queue = self.queue();
        queue.tools.retain(|(other, _)| *other != key);
        queue.tools.push((key, listed));
    }

    /// Notes how an attempt to connect has just ended.
    pub(crate) fn note_attempt(&self, server: &Arc<TrustedServer>, error: Option<&str>) {
        let mut queue = self.queue();
        queue.attempts.retain(|(other, _)| !Arc::ptr_eq(other, server));
        queue.attempts.push((Arc::clone(server), LastAttempt::now(error)));
    }

    /// Returns how the last attempt to connect to a server ended before somebody first asked for
    /// any.
    pub(crate) fn earlier_attempt(&self, server: &TrustedServer) -> Option<LastAttempt> {
        let earlier = self.earlier.get_or_init(|| self.attempts.load());
        if earlier.is_empty() { None } else { earlier.get(&self.cache_key(server)) }
    }

    /// Compares a live list with the pins, and pins what may be pinned.
    pub(crate) fn check_pins(
        &self,
        server: &TrustedServer,
        tools: &Arc<[ToolDefinition]>,
        mode: Pinning,
    ) -> PinReport {
        self.pins.check(&self.pin_key(server), tools, mode)
    }

    /// Compares a cached list with the pins.
    pub(crate) fn compare_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
        mode: Pinning,
    ) -> PinReport {
        self.pins.compare(&self.pin_key(server), tools, mode)
    }

    /// Returns in full how a live list differs from the pins.
    pub(crate) fn review_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
    ) -> Vec<ToolChange> {
        self.pins.review(&self.pin_key(server), tools)
    }

    /// Pins tools that the person has accepted.
    pub(crate) fn accept_pins(
        &self,
        server: &TrustedServer,
        tools: &[ToolDefinition],
    ) -> Result<(), PinError> {
        self.pins.accept(&self.pin_key(server), tools)
    }

    /// Returns a text that identifies a definition and reveals nothing of it.
    pub(crate) fn definition_key(&self, server: &TrustedServer) -> String {
        self.pins.definition_key(&ServerIdentity::new(server, &self.env))
    }

    /// Tells whether something waits to be written.
    pub(crate) fn has_unwritten(&self) -> bool {
        let queue = self.queue();
        !queue.tools.is_empty() || !queue.attempts.is_empty() || self.pins.has_pending()
    }

    /// Writes what waits, and the names of tools. Waits for the disk, for others in this runtime
    /// who write, and for each folder at most `wait` for other processes.
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

    fn cache_key(&self, server: &TrustedServer) -> RecordKey {
        self.cache.key(&ServerIdentity::new(server, &self.env))
    }

    fn pin_key(&self, server: &TrustedServer) -> RecordKey {
        self.pins.key(&ServerIdentity::new(server, &self.env))
    }

    fn queue(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
