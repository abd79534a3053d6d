//! What the process holds on to: memory, open files, tasks.

use std::fs;
use std::time::{Duration, Instant};

/// What is in use at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) memory_kib: u64,
    files: usize,
    tasks: usize,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        Self { memory_kib: memory.unwrap_or_default(), files, tasks }
    }

    /// Says what there is more of than before.
    pub(crate) fn compared_with(&self, before: &Self) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.files > before.files {
            complaints.push(format!("{} files are left open", self.files - before.files));
        }
        if self.tasks > before.tasks {
            complaints.push(format!("{} tasks are left", self.tasks - before.tasks));
        }
        complaints
    }
}

/// Waits until no more is in use than before, at most ten seconds.
pub(crate) async fn settled(before: &Usage) -> Usage {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let now = Usage::now();
        if now.compared_with(before).is_empty() || Instant::now() > until {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
