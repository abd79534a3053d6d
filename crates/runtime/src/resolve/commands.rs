//! Remembers what `!command` values printed, for as long as the process lives.
//!
//! A command runs once for everybody who waits for it, and no more than once at a time. Whoever
//! waits keeps it running: one who leaves disturbs nobody, and when the last has left it is ended.
//! A failure is told to all who waited and then forgotten, so the next one tries again.

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

/// How long a renewed value is not renewed again: a server that refuses everything must not make
/// us run the command for each request.
const RENEWAL_REST: Duration = Duration::from_secs(30);

/// A command and the folder it runs in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CommandKey {
    pub(super) folder: PathBuf,
    pub(super) command: Secret,
}

type Printed = Result<Secret, CommandFailure>;
type Run = BoxFuture<'static, Printed>;

/// The commands of one runtime; clones share what they know.
#[derive(Clone)]
pub(super) struct Commands(Arc<Inner>);

struct Inner {
    env: Arc<Env>,
    tracker: TaskTracker,
    slots: Mutex<HashMap<CommandKey, Slot>>,
}

#[derive(Default)]
struct Slot {
    known: Option<Known>,
    /// Held by those who wait, not by us.
    running: Option<WeakShared<Run>>,
}

struct Known {
    value: Secret,
    renewed: Option<Instant>,
}

/// Why a command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Wanted,
    Refused,
}

impl Commands {
    pub(super) fn new(env: Arc<Env>) -> Self {
        let slots = Mutex::default();
        Self(Arc::new(Inner { env, tracker: TaskTracker::new(), slots }))
    }

    /// Returns what a command prints; runs it if that is not known.
    ///
    /// Dropping the future ends the command, unless somebody else waits for it, too.
    pub(super) async fn value(&self, key: &CommandKey) -> Printed {
        let run = match self.look(key, Cause::Wanted) {
            Look::Known(value) => return Ok(value),
            Look::Running(run) => run,
        };
        run.await
    }

    /// Runs a command again because its value was refused; not if that was done just now.
    pub(super) async fn renew(&self, key: &CommandKey) -> Printed {
        let run = match self.look(key, Cause::Refused) {
            Look::Known(value) => return Ok(value),
            Look::Running(run) => run,
        };
        run.await
    }

    /// Returns what a command has printed, if that is known.
    pub(super) fn known(&self, key: &CommandKey) -> Option<Secret> {
        Some(self.0.slots().get(key)?.known.as_ref()?.value.clone())
    }

    fn look(&self, key: &CommandKey, cause: Cause) -> Look {
        let mut slots = self.0.slots();
        let slot = slots.entry(key.clone()).or_default();
        if let Some(run) = slot.running.as_ref().and_then(WeakShared::upgrade) {
            return Look::Running(run);
        }
        if let Some(known) = slot.known.as_ref().filter(|known| known.is_good_for(cause)) {
            return Look::Known(known.value.clone());
        }
        let run = Arc::clone(&self.0).run(key.clone(), cause).boxed().shared();
        slot.running = run.downgrade();
        Look::Running(run)
    }
}

enum Look {
    Known(Secret),
    Running(Shared<Run>),
}

impl Known {
    fn is_good_for(&self, cause: Cause) -> bool {
        let rests = |renewed: Instant| renewed.elapsed() < RENEWAL_REST;
        cause == Cause::Wanted || self.renewed.is_some_and(rests)
    }
}

impl Inner {
    async fn run(self: Arc<Self>, key: CommandKey, cause: Cause) -> Printed {
        let printed = shell::run(&key.command, &key.folder, &self.env, &self.tracker).await;
        let renewed = (cause == Cause::Refused).then(Instant::now);
        let known = printed.clone().ok().map(|value| Known { value, renewed });
        self.slots().insert(key, Slot { known, running: None });
        printed
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<CommandKey, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
