//! How much of a stranger's time and data we take.

use std::time::Duration;

/// What a server may cost; past a limit there is a clear error for that call or that server.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// The size of one message, in bytes.
    pub message: usize,
    /// The pages of one list.
    pub pages: usize,
    /// The entries of one list, those that cannot be used included.
    pub items: usize,
    /// The bytes of one list, all pages together.
    pub list: usize,
    /// How often a server may ask back before it answers (multi round-trip requests).
    pub rounds: usize,
    /// How many requests of the server are worked on at once.
    pub server_requests: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            message: 64 << 20,
            pages: 10_000,
            items: 50_000,
            list: 256 << 20,
            rounds: 16,
            server_requests: 64,
        }
    }
}

/// How long to wait for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// The longest silence; a progress notification starts it anew, and so does a question of the
    /// server, until it is answered.
    pub idle: Duration,
    /// The longest wait in all, whatever progress is made.
    pub cap: Duration,
}

impl Deadline {
    /// Waits at most `limit`, progress or not.
    pub const fn within(limit: Duration) -> Self {
        Self { idle: limit, cap: limit }
    }

    /// Waits for as long as the session lasts.
    pub const fn never() -> Self {
        Self::within(Duration::MAX)
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), cap: Duration::from_secs(3600) }
    }
}
