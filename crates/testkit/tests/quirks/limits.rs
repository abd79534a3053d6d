//! How long a run waits and how much it moves, so that all runs together stay short.
//!
//! A loaded machine makes everything slow, so only what must run into a limit gets a short one.

use std::time::Duration;

use wharf_protocol::peer::{Deadline, ProgressMode, RequestOptions};
use wharf_testkit::quirk::{Expect, Failure, Mode};

/// Longer than anything takes, so that an error does not hang a run.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(1500);

/// The limits of one run.
pub(crate) struct RunLimits {
    /// For connecting.
    pub(crate) connect: Duration,
    /// For the list.
    pub(crate) list: RequestOptions,
    /// For the call.
    pub(crate) call: RequestOptions,
    /// How long the server itself waits, if not as usual.
    pub(crate) delay: Option<Duration>,
    /// How many bytes it sends, if not as many as usual.
    pub(crate) bytes: Option<usize>,
    /// How many things it sends, if not as many as usual.
    pub(crate) count: Option<usize>,
}

impl RunLimits {
    pub(crate) fn for_mode(mode: &Mode) -> Self {
        let by_waiting = |because| matches!(because, Failure::TimedOut | Failure::Any);
        let (connect, list, call) = match mode.expect {
            Expect::ConnectFails { because } if by_waiting(because) => (2 * SHORT, LONG, LONG),
            Expect::ListFails { because } if by_waiting(because) => (LONG, SHORT, LONG),
            Expect::CallFails { because, .. } if by_waiting(because) => (LONG, LONG, SHORT),
            _ => (LONG, LONG, LONG),
        };
        let (delay, idle) = match mode.name {
            // Longer than the silence after which both probes are sent.
            "slow-first-answer" | "probe-slow-modern" => (Some(500), LONG),
            // Longer in all than a call may be silent.
            "progress-keeps-alive" => (Some(500), Duration::from_secs(2)),
            _ => (None, LONG),
        };
        let options = |cap: Duration| RequestOptions {
            deadline: Deadline { idle: idle.min(cap), cap },
            progress: ProgressMode::KeepAlive,
            ..RequestOptions::default()
        };
        let delay = delay.map(Duration::from_millis);
        let bytes = (mode.name == "event-comment-flood").then_some(32 << 20);
        let many = ["flood-of-junk", "flood-of-notifications", "flood-of-batch"];
        let count = many.contains(&mode.name).then_some(20_000);
        Self { connect, list: options(list), call: options(call), delay, bytes, count }
    }
}
