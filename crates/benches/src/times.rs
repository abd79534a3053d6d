//! The times of calls with percentiles, and the peak memory of the process.

use std::fs;
use std::time::Duration;

/// The times of many calls.
#[derive(Default)]
pub struct CallTimes(Vec<Duration>);

impl CallTimes {
    /// Adds one time.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Adds the times of another.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a percentile in microseconds.
    pub fn percentile(&mut self, percent: usize) -> f64 {
        self.0.sort_unstable();
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }
}

/// Returns the peak memory of this process, if the system reports it.
pub fn peak_kib() -> Option<u64> {
    memory_kib("VmHWM:")
}

/// Returns the resident memory of this process, if the system reports it.
pub fn resident_kib() -> Option<u64> {
    memory_kib("VmRSS:")
}

fn memory_kib(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_do_not_depend_on_the_order() {
        let mut times = CallTimes((1..=100).rev().map(Duration::from_micros).collect());
        let found = [times.percentile(50), times.percentile(99), times.percentile(100)];
        assert_eq!(format!("{found:.0?}"), "[51, 100, 100]");
    }
}
