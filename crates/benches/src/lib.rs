//! What the drivers of the benches share: the command line's targets and the numbers.

mod target;
mod times;

pub use target::BenchTarget;
pub use times::{CallTimes, peak_kib};
