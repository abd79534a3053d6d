//! The timeouts and amounts of data of a run, so that all runs together stay short.
//!
//! A loaded machine is slow, so only runs that must hit a timeout get a short one.

use std::time::Duration;

use wharf_protocol::peer::{Deadline, ProgressMode, RequestOptions};
use wharf_testkit::quirk::{ExpectedOutcome, FailureReason, QuirkMode};

/// A limit that no run reaches, so that an error does not hang it.
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
    /// The delay of the server, if not the default.
    pub(crate) delay: Option<Duration>,
    /// The number of bytes that it sends, if not the default.
    pub(crate) bytes: Option<usize>,
    /// The number of items that it sends, if not the default.
    pub(crate) count: Option<usize>,
}

impl RunLimits {
    pub(crate) fn for_mode(mode: &QuirkMode) -> Self {
        let by_waiting = |because| because == FailureReason::TimedOut;
        let (connect, list, call) = match mode.expect {
            ExpectedOutcome::ConnectFails { because } if by_waiting(because) => {
                (2 * SHORT, LONG, LONG)
            }
            ExpectedOutcome::ListFails { because } if by_waiting(because) => (LONG, SHORT, LONG),
            ExpectedOutcome::CallFails { because, .. } if by_waiting(because) => {
                (LONG, LONG, SHORT)
            }
            _ => (LONG, LONG, LONG),
        };
        let (delay, idle) = match mode.name {
            // Longer than the delay after which both probes are sent.
            "slow-first-answer" | "probe-slow-modern" => (Some(500), LONG),
            // Longer in all than the idle timeout.
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
