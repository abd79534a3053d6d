//! What the environment sets: how long to wait, how much to write.
//!
//! `QUIRK_DELAY_MS`, `QUIRK_LINGER_MS`, `QUIRK_BYTES`, `QUIRK_COUNT`; each has a default where it
//! is used.

use std::thread;
use std::time::Duration;

/// Returns how long a quirk waits.
pub(super) fn delay(default_ms: u64) -> Duration {
    Duration::from_millis(number("QUIRK_DELAY_MS").unwrap_or(default_ms))
}

/// Waits as long as a quirk waits.
pub(super) fn pause(default_ms: u64) {
    thread::sleep(delay(default_ms));
}

/// Returns how many bytes a quirk writes.
pub(super) fn bytes(default: usize) -> usize {
    number("QUIRK_BYTES").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(default)
}

/// Returns how often a quirk does what it does.
pub(super) fn count(default: usize) -> usize {
    number("QUIRK_COUNT").and_then(|count| usize::try_from(count).ok()).unwrap_or(default)
}

/// Returns how long something lives that nobody ends.
pub(super) fn lifetime() -> Duration {
    Duration::from_millis(number("QUIRK_LINGER_MS").unwrap_or(60_000))
}

/// Stays alive without doing anything, as long as allowed.
pub(super) fn linger() {
    thread::sleep(lifetime());
}

/// Tells whether this process was already started again by itself.
pub(super) fn is_second_life() -> bool {
    number("QUIRK_SECOND_LIFE").is_some()
}

#[expect(clippy::disallowed_methods, reason = "a test server is set up by its environment")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
