//! Shared by the benchmark drivers: the target argument, the call times and the memory.

mod target;
mod times;

pub use target::BenchTarget;
pub use times::{CallTimes, peak_kib, resident_kib};
