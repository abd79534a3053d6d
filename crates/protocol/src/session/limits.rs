//! How large the messages and lists of an untrusted server may be, and how long to wait for it.

use std::time::Duration;

/// The limits for one server; over a limit, the call or the connection fails with an error.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// The size of one message, in bytes.
    pub message: usize,
    /// The pages of one list.
    pub pages: usize,
    /// The entries of one list, including those that cannot be used.
    pub items: usize,
    /// The bytes of one list, all pages together.
    pub(crate) list: usize,
    /// How often a server may request input before its result (multi round-trip requests).
    pub(crate) rounds: usize,
    /// How many requests of the server are handled at once.
    pub(crate) server_requests: usize,
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

/// How long to wait for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// The longest time without activity. Progress notifications count as activity, and so does an
    /// open request of the server.
    pub idle: Duration,
    /// The longest wait in all, regardless of activity.
    pub cap: Duration,
}

impl Deadline {
    /// Waits at most `limit`, regardless of activity.
    pub(crate) const fn within(limit: Duration) -> Self {
        Self { idle: limit, cap: limit }
    }

    /// Waits for as long as the session lasts.
    pub(crate) const fn never() -> Self {
        Self::within(Duration::MAX)
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), cap: Duration::from_secs(3600) }
    }
}
