//! Reads the environment variables that set the delays and amounts of data of a mode.
//!
//! They are `QUIRK_DELAY_MS`, `QUIRK_LINGER_MS`, `QUIRK_BYTES` and `QUIRK_COUNT`; the caller passes
//! the default.

use std::thread;
use std::time::Duration;

/// Returns the delay of a quirk.
pub(super) fn delay(default_ms: u64) -> Duration {
    Duration::from_millis(number("QUIRK_DELAY_MS").unwrap_or(default_ms))
}

/// Sleeps for the delay of a quirk.
pub(super) fn pause(default_ms: u64) {
    thread::sleep(delay(default_ms));
}

/// Returns the number of bytes that a quirk writes.
pub(super) fn bytes(default: usize) -> usize {
    number("QUIRK_BYTES").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(default)
}

/// Returns the number of items that a quirk writes.
pub(super) fn count(default: usize) -> usize {
    number("QUIRK_COUNT").and_then(|count| usize::try_from(count).ok()).unwrap_or(default)
}

/// Returns the lifetime of a process that ignores the end of its input.
pub(super) fn lifetime() -> Duration {
    Duration::from_millis(number("QUIRK_LINGER_MS").unwrap_or(60_000))
}

/// Sleeps for the whole lifetime.
pub(super) fn linger() {
    thread::sleep(lifetime());
}

/// Tells whether this process was restarted by itself (`exec`).
pub(super) fn is_restarted() -> bool {
    number("QUIRK_SECOND_LIFE").is_some()
}

#[expect(clippy::disallowed_methods, reason = "the test sets the environment of the server")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
