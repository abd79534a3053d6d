//! Caches the output of `!command` values for the lifetime of the process.
//!
//! A command runs once for all callers that wait for it, and never twice at the same time. It runs
//! while at least one caller waits; when the last one is dropped, the command is killed. A failure
//! is returned to all waiting callers and not cached, so the next caller tries again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use tokio::time::Instant;
use wharf_config::{Env, Secret};
use wharf_protocol::transport::process::TaskTracker;

use super::shell::{self, CommandFailure};

/// How long a renewed value is not renewed again, so that a server that rejects every request does
/// not run the command for each.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(30);

/// A command and the folder in which it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CommandKey {
    pub(super) folder: PathBuf,
    pub(super) command: Secret,
}

type CommandOutput = Result<Secret, CommandFailure>;
type Run = BoxFuture<'static, CommandOutput>;

/// The commands of one runtime; clones share the cache.
#[derive(Clone)]
pub(super) struct CommandCache(Arc<CommandCacheInner>);

struct CommandCacheInner {
    env: Arc<Env>,
    tracker: TaskTracker,
    slots: Mutex<HashMap<CommandKey, CommandSlot>>,
}

#[derive(Default)]
struct CommandSlot {
    cached: Option<CachedValue>,
    /// Owned by the callers that wait, not by the cache.
    running: Option<WeakShared<Run>>,
}

struct CachedValue {
    value: Secret,
    renewed: Option<Instant>,
}

/// Why a command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunCause {
    Needed,
    Rejected,
}

impl CommandCache {
    pub(super) fn new(env: Arc<Env>) -> Self {
        let slots = Mutex::default();
        Self(Arc::new(CommandCacheInner { env, tracker: TaskTracker::new(), slots }))
    }

    /// Returns the output of a command; runs it if there is no cached output.
    ///
    /// Dropping the future kills the command, unless another caller waits for it.
    pub(super) async fn value(&self, key: &CommandKey) -> CommandOutput {
        let run = match self.look_up(key, RunCause::Needed) {
            Lookup::Cached(value) => return Ok(value),
            Lookup::Running(run) => run,
        };
        run.await
    }

    /// Runs a command again because a server rejected its value, unless it was renewed just now.
    #[cfg(any(feature = "http", test))]
    pub(super) async fn renew(&self, key: &CommandKey) -> CommandOutput {
        let run = match self.look_up(key, RunCause::Rejected) {
            Lookup::Cached(value) => return Ok(value),
            Lookup::Running(run) => run,
        };
        run.await
    }

    /// Returns the cached output of a command.
    #[cfg(any(feature = "http", test))]
    pub(super) fn cached(&self, key: &CommandKey) -> Option<Secret> {
        Some(self.0.slots().get(key)?.cached.as_ref()?.value.clone())
    }

    fn look_up(&self, key: &CommandKey, cause: RunCause) -> Lookup {
        let mut slots = self.0.slots();
        let slot = slots.entry(key.clone()).or_default();
        if let Some(run) = slot.running.as_ref().and_then(WeakShared::upgrade) {
            return Lookup::Running(run);
        }
        if let Some(cached) = slot.cached.as_ref().filter(|cached| cached.is_good_for(cause)) {
            return Lookup::Cached(cached.value.clone());
        }
        let run = Arc::clone(&self.0).run(key.clone(), cause).boxed().shared();
        slot.running = run.downgrade();
        Lookup::Running(run)
    }
}

enum Lookup {
    Cached(Secret),
    Running(Shared<Run>),
}

impl CachedValue {
    fn is_good_for(&self, cause: RunCause) -> bool {
        let is_recent = |renewed: Instant| renewed.elapsed() < RENEWAL_INTERVAL;
        cause == RunCause::Needed || self.renewed.is_some_and(is_recent)
    }
}

impl CommandCacheInner {
    async fn run(self: Arc<Self>, key: CommandKey, cause: RunCause) -> CommandOutput {
        let output = shell::run(&key.command, &key.folder, &self.env, &self.tracker).await;
        let renewed = (cause == RunCause::Rejected).then(Instant::now);
        let cached = output.clone().ok().map(|value| CachedValue { value, renewed });
        self.slots().insert(key, CommandSlot { cached, running: None });
        output
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<CommandKey, CommandSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
