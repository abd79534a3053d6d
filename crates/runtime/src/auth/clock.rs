//! The time of day, in seconds since 1970, as tokens and assertions have it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time; a clock before 1970 is 0.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
