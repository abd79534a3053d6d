//! The memory, open files and tasks of this process.

use std::fs;
use std::time::{Duration, Instant};

/// The usage at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceUsage {
    pub(crate) memory_kib: u64,
    files: usize,
    tasks: usize,
}

impl ResourceUsage {
    pub(crate) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        Self { memory_kib: memory.unwrap_or_default(), files, tasks }
    }

    /// Returns a problem for each resource of which more is in use than before.
    pub(crate) fn leaks_since(&self, before: &Self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.files > before.files {
            problems.push(format!("{} files are still open", self.files - before.files));
        }
        if self.tasks > before.tasks {
            problems.push(format!("{} tasks still run", self.tasks - before.tasks));
        }
        problems
    }
}

/// Waits until no more is in use than before, but at most ten seconds; returns the usage.
pub(crate) async fn after_cleanup(before: &ResourceUsage) -> ResourceUsage {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let now = ResourceUsage::now();
        if now.leaks_since(before).is_empty() || Instant::now() > deadline {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
