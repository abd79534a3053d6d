//! A process tree with a unique tag, and a search for its running processes.
//!
//! The tag is an environment variable of the test, so the search does not depend on the tested
//! code.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use wharf_protocol::transport::process::{
    GracePeriod, LogSink, Process, ProcessLaunch, Stdout, TaskTracker,
};

/// The timeout for everything that must happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A grace period that does not end before the deadline.
pub(crate) const LONG_GRACE: GracePeriod =
    GracePeriod { after_eof: DEADLINE, after_term: DEADLINE };

/// A grace period that ends at once.
pub(crate) const NO_GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };

/// The process tree of one test.
pub(crate) struct TestTree {
    tag: String,
    pub(crate) tracker: TaskTracker,
}

/// Process name → process id.
pub(crate) type ProcessIds = HashMap<String, u32>;

impl TestTree {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let tag = format!("WHARF_TRIAL={}-{count}", std::process::id());
        Self { tag, tracker: TaskTracker::new() }
    }

    /// Returns how to start the tree; the words say what its processes do.
    pub(crate) fn launch(&self, words: &str) -> ProcessLaunch {
        let (name, value) = self.tag.split_once('=').unwrap();
        ProcessLaunch {
            arguments: words.split(' ').map(Into::into).collect(),
            environment: vec![(name.into(), value.into())],
            ..ProcessLaunch::new(env!("CARGO_BIN_EXE_wharf-process-tree"))
        }
    }

    /// Starts the tree.
    pub(crate) async fn start(&self, words: &str) -> Process {
        self.start_logged(words, None).await
    }

    pub(crate) async fn start_logged(&self, words: &str, log: Option<LogSink>) -> Process {
        Process::start(self.launch(words), &self.tracker, log).await.unwrap()
    }

    /// Starts the tree, and waits until this many processes have reported that they run.
    pub(crate) async fn start_and_wait(
        &self,
        words: &str,
        count: usize,
    ) -> (Process, ProcessIds, Stdout) {
        let mut process = self.start(words).await;
        let mut stdout = BufReader::with_capacity(256, process.take_stdout().unwrap());
        let mut members = ProcessIds::new();
        while members.len() < count {
            let mut line = String::new();
            let read = tokio::time::timeout(DEADLINE, stdout.read_line(&mut line)).await;
            assert_ne!(read.unwrap().unwrap(), 0, "{words}: {}", process.stderr().text());
            let (name, pid) = line.trim().split_once(' ').unwrap();
            members.insert(name.to_owned(), pid.parse().unwrap());
        }
        (process, members, stdout.into_inner())
    }

    /// Returns the ids of all processes of the tree that run.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        // A zombie has no environment.
        numbers.filter(|pid| has_variable(*pid, &self.tag)).collect()
    }

    /// Waits until no process of the tree runs.
    pub(crate) async fn wait_until_gone(&self) {
        until(|| self.alive().is_empty(), || format!("still running: {:?}", self.alive())).await;
    }
}

impl Drop for TestTree {
    fn drop(&mut self) {
        // A failed test must not leave processes behind either.
        for pid in self.alive() {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed());
            let _ = rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL);
        }
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(so: impl Fn() -> bool, otherwise: impl Fn() -> String) {
    let deadline = Instant::now() + DEADLINE;
    while !so() {
        assert!(Instant::now() < deadline, "{}", otherwise());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Tells whether a process exists and is not a zombie.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Tells whether a process was reaped: not even a zombie is left.
pub(crate) fn is_reaped(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

fn has_variable(pid: u32, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
}
