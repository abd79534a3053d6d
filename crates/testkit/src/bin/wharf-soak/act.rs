//! What the workers do, and the count of what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use wharf::protocol::Json;
use wharf::{CallOptions, FailureKind, Runtime};
use wharf_testkit::chance::Chance;

use crate::stage::{SERVERS, Stage, name};
use crate::{WORKERS, all};

/// How long one operation may take before it counts as lost.
const LIMIT: Duration = Duration::from_secs(60);

/// One of those who use the runtime at the same time.
pub(crate) struct Worker {
    stage: Arc<Stage>,
    wharf: Runtime,
    chance: Chance,
    operations: u64,
}

/// What was done, and how often.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    done: BTreeMap<&'static str, u64>,
    lost: Vec<String>,
}

/// Lets all workers do their share of the operations.
pub(crate) async fn run(stage: &Arc<Stage>, wharf: &Runtime, operations: u64, seed: u64) -> Tally {
    let worker = |number| Worker {
        stage: Arc::clone(stage),
        wharf: wharf.clone(),
        chance: Chance::new(seed + number),
        operations: operations / WORKERS,
    };
    all((0..WORKERS).map(worker).collect()).await
}

impl Worker {
    pub(crate) async fn run(mut self) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..self.operations {
            let at = usize::try_from(self.chance.below(SERVERS as u64)).unwrap_or_default();
            let operation = tokio::time::timeout(LIMIT, self.operate(at)).await;
            match operation {
                Ok(what) => *tally.done.entry(what).or_default() += 1,
                Err(_) => tally.lost.push(format!("an operation on {} never ended", name(at))),
            }
        }
        tally
    }

    /// Does something at random and says what it was.
    async fn operate(&mut self, at: usize) -> &'static str {
        match self.chance.below(1_000) {
            0..700 => self.call(at, "").await,
            700..850 => self.look(),
            850..930 => self.cancel(at).await,
            930..950 => {
                let point = *self.chance.of(&["after-read", "after-effect", "mid-reply"]);
                self.call(at, point).await
            }
            950..970 => self.change_list(at).await,
            970..980 => self.kill(at),
            980..990 => self.reconnect(at).await,
            990..995 => {
                drop(self.wharf.disconnect(&name(at)).await);
                drop(self.wharf.connect(&name(at)).await);
                "closed and opened"
            }
            _ => {
                let version = self.chance.below(16);
                if let Some(catalog) = self.stage.catalog(version) {
                    self.wharf.apply(&catalog).await;
                }
                "catalogs applied"
            }
        }
    }

    async fn call(&self, at: usize, die: &str) -> &'static str {
        let arguments = json!({ "text": "x", "die": die }).to_string();
        let Ok(arguments) = arguments.parse::<Json>() else { return "impossible" };
        let tool = format!("mcp_{}_do", name(at));
        let options =
            CallOptions { timeout: Some(Duration::from_secs(20)), ..CallOptions::default() };
        let outcome = self.wharf.call(&tool, &arguments, &options).await;
        let Some(error) = outcome.error else { return "calls answered" };
        let snapshot = self.wharf.snapshot();
        let failure = snapshot.server(&name(at)).and_then(|server| server.failure.as_ref());
        if failure.is_some_and(|failure| failure.kind == FailureKind::Stopped) {
            drop(self.wharf.connect(&name(at)).await);
            return "breakers reset";
        }
        if error.outcome_known { "calls not run" } else { "calls with unknown outcome" }
    }

    fn look(&self) -> &'static str {
        let snapshot = self.wharf.snapshot();
        let tools = snapshot.registry().tools().len();
        if tools <= 2 * SERVERS + 64 { "looks" } else { "impossible" }
    }

    async fn cancel(&mut self, at: usize) -> &'static str {
        let turns = self.chance.below(50);
        let giving_up = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = self.call(at, "") => "calls faster than their end",
            () = giving_up => "calls cancelled",
        }
    }

    async fn change_list(&self, at: usize) -> &'static str {
        let arguments = json!({ "tools": ["do", "other"] }).to_string();
        let Ok(arguments) = arguments.parse::<Json>() else { return "impossible" };
        let tool = format!("mcp_{}_do", name(at));
        self.wharf.call(&tool, &arguments, &CallOptions::default()).await;
        "lists changed"
    }

    fn kill(&self, at: usize) -> &'static str {
        let process = self.stage.process(at);
        #[cfg(unix)]
        if let Some(process) =
            process.and_then(|process| rustix::process::Pid::from_raw(process.cast_signed()))
        {
            let _may_be_gone =
                rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        if process.is_some() { "kills" } else { "nobody to kill" }
    }

    async fn reconnect(&self, at: usize) -> &'static str {
        drop(self.wharf.connect(&name(at)).await);
        "reconnects"
    }
}

impl Tally {
    pub(crate) fn panicked(&mut self, why: &str) {
        self.lost.push(why.to_owned());
    }

    /// Says what should not have happened.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut complaints = self.lost.clone();
        if let Some(times) = self.done.get("impossible") {
            complaints.push(format!("{times} operations saw what cannot be"));
        }
        let answered = self.done.get("calls answered").copied().unwrap_or_default();
        let all: u64 = self.done.values().sum();
        if answered * 3 < all {
            complaints
                .push(format!("only {answered} of {all} operations were calls with an answer"));
        }
        complaints
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (what, times) in other.done {
            *self.done.entry(what).or_default() += times;
        }
        self.lost.extend(other.lost);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.done.iter().map(|(what, times)| format!("{times} {what}"));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}
