//! The workers and their random operations, and the counts of what happened.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use wharf::protocol::Json;
use wharf::{FailureKind, Runtime};
use wharf_testkit::seeded_random::SeededRandom;

use crate::test_servers::{SERVERS, TestServers, name};
use crate::{WORKERS, run_all};

/// The time after which an operation counts as lost.
const LIMIT: Duration = Duration::from_secs(60);

/// One of the concurrent users of the runtime.
pub(crate) struct Worker {
    servers: Arc<TestServers>,
    wharf: Runtime,
    random: SeededRandom,
    operations: u64,
}

/// The number of operations by what happened, and the lost ones.
#[derive(Debug, Default)]
pub(crate) struct OperationCounts {
    done: BTreeMap<&'static str, u64>,
    lost: Vec<String>,
}

/// Runs this many operations, divided among all workers.
pub(crate) async fn run(
    servers: &Arc<TestServers>,
    wharf: &Runtime,
    operations: u64,
    seed: u64,
) -> OperationCounts {
    let worker = |number| Worker {
        servers: Arc::clone(servers),
        wharf: wharf.clone(),
        random: SeededRandom::new(seed + number),
        operations: operations / WORKERS,
    };
    run_all((0..WORKERS).map(worker).collect()).await
}

impl Worker {
    pub(crate) async fn run(mut self) -> OperationCounts {
        let mut counts = OperationCounts::default();
        for _ in 0..self.operations {
            let at = usize::try_from(self.random.below(SERVERS as u64)).unwrap_or_default();
            let operation = tokio::time::timeout(LIMIT, self.operate(at)).await;
            match operation {
                Ok(what) => *counts.done.entry(what).or_default() += 1,
                Err(_) => counts
                    .lost
                    .push(format!("an operation on {} did not end within {LIMIT:?}", name(at))),
            }
        }
        counts
    }

    /// Executes a random operation and returns what happened.
    async fn operate(&mut self, at: usize) -> &'static str {
        match self.random.below(1_000) {
            0..700 => self.call(at, "").await,
            700..850 => self.read_snapshot(),
            850..930 => self.cancel(at).await,
            930..950 => {
                let point = *self.random.pick(&["after-read", "after-effect", "mid-reply"]);
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
                let version = self.random.below(16);
                if let Some(catalog) = self.servers.catalog(version) {
                    drop(self.wharf.apply(&catalog).await);
                }
                "catalogs applied"
            }
        }
    }

    async fn call(&self, at: usize, die: &str) -> &'static str {
        let arguments = json!({ "text": "x", "die": die }).to_string();
        let Ok(arguments) = arguments.parse::<Json>() else { return "impossible" };
        let tool = format!("mcp_{}_do", name(at));
        let call = self.wharf.call(&tool, &arguments).idle_timeout(Duration::from_secs(20));
        let outcome = call.await;
        let Some(error) = outcome.error else { return "calls with a result" };
        let snapshot = self.wharf.snapshot();
        let failure = snapshot.server(&name(at)).and_then(|server| server.failure.as_ref());
        if failure.is_some_and(|failure| failure.kind == FailureKind::Stopped) {
            drop(self.wharf.connect(&name(at)).await);
            return "breakers reset";
        }
        if error.outcome_known { "calls not executed" } else { "calls with unknown outcome" }
    }

    fn read_snapshot(&self) -> &'static str {
        let snapshot = self.wharf.snapshot();
        let tools = snapshot.registry().tools().len();
        if tools <= 2 * SERVERS + 64 { "snapshots read" } else { "impossible" }
    }

    async fn cancel(&mut self, at: usize) -> &'static str {
        let turns = self.random.below(50);
        let delay = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = self.call(at, "") => "calls that ended before they were cancelled",
            () = delay => "calls cancelled",
        }
    }

    async fn change_list(&self, at: usize) -> &'static str {
        let arguments = json!({ "tools": ["do", "other"] }).to_string();
        let Ok(arguments) = arguments.parse::<Json>() else { return "impossible" };
        let tool = format!("mcp_{}_do", name(at));
        self.wharf.call(&tool, &arguments).await;
        "lists changed"
    }

    fn kill(&self, at: usize) -> &'static str {
        let process = self.servers.process(at);
        #[cfg(unix)]
        if let Some(process) =
            process.and_then(|process| rustix::process::Pid::from_raw(process.cast_signed()))
        {
            let _may_be_gone =
                rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        if process.is_some() { "kills" } else { "servers without a process" }
    }

    async fn reconnect(&self, at: usize) -> &'static str {
        drop(self.wharf.connect(&name(at)).await);
        "reconnects"
    }
}

impl OperationCounts {
    pub(crate) fn add_panic(&mut self, why: &str) {
        self.lost.push(why.to_owned());
    }

    /// Returns what must not happen.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.lost.clone();
        if let Some(count) = self.done.get("impossible") {
            problems.push(format!("{count} operations saw an impossible state"));
        }
        let answered = self.done.get("calls with a result").copied().unwrap_or_default();
        let all: u64 = self.done.values().sum();
        if answered * 3 < all {
            problems.push(format!("only {answered} of {all} operations were calls with a result"));
        }
        problems
    }
}

impl AddAssign for OperationCounts {
    fn add_assign(&mut self, other: Self) {
        for (what, count) in other.done {
            *self.done.entry(what).or_default() += count;
        }
        self.lost.extend(other.lost);
    }
}

impl fmt::Display for OperationCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.done.iter().map(|(what, count)| format!("{count} {what}"));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}
