//! Backoff and circuit breaker: when a lost server is reconnected, and when Wharf gives up.
//!
//! The current time is a parameter, so tests need not wait.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The first waits after a lost connection.
const SHORT_WAITS: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The first of the long waits for a remote server.
const FIRST_LONG_WAIT: Duration = Duration::from_secs(15);

/// The longest wait for a remote server.
const MAX_WAIT: Duration = Duration::from_secs(5 * 60);

/// How long a connection must last to reset the backoff.
pub(super) const STABLE_AFTER: Duration = Duration::from_secs(30);

/// How often a local server may be started within [`START_WINDOW`].
pub(super) const MAX_STARTS: usize = 5;

/// The time window in which starts are counted.
pub(super) const START_WINDOW: Duration = Duration::from_secs(30);

/// Where a server runs, which decides for how long it is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// A local process: after four failures, another start is unlikely to help.
    Local,
    /// A remote server: networks and servers recover without Wharf.
    Remote,
}

/// The waits between attempts to connect.
#[derive(Debug)]
pub(super) struct Backoff {
    kind: ServerKind,
    step: u32,
}

impl Backoff {
    pub(super) fn new(kind: ServerKind) -> Self {
        Self { kind, step: 0 }
    }

    /// Resets the waits.
    pub(super) fn reset(&mut self) {
        self.step = 0;
    }

    /// Skips the short waits: they are for a server that was connected before.
    pub(super) fn skip_short_waits(&mut self) {
        self.step = self.step.max(u32::try_from(SHORT_WAITS.len()).unwrap_or(u32::MAX));
    }

    /// Returns the wait before the next attempt; `None` to give up.
    ///
    /// `jitter` between 0 and 1 spreads the attempts of servers that were lost at the same time:
    /// the wait is 75 % to 125 % of the step.
    pub(super) fn next(&mut self, jitter: f64) -> Option<Duration> {
        let step = self.step;
        self.step = step.saturating_add(1);
        let wait = match SHORT_WAITS.get(step as usize) {
            Some(wait) => *wait,
            None if self.kind == ServerKind::Local => return None,
            None => {
                let doubled = FIRST_LONG_WAIT
                    .saturating_mul(1 << (step as usize - SHORT_WAITS.len()).min(10));
                doubled.min(MAX_WAIT)
            }
        };
        Some(wait.mul_f64(0.75 + jitter.clamp(0.0, 1.0) / 2.0))
    }
}

/// Stops a local server that was started too often.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker(VecDeque<Instant>);

impl CircuitBreaker {
    /// Records a start and returns `true`; returns `false` if there were too many.
    pub(super) fn allow_start(&mut self, now: Instant) -> bool {
        while self.0.front().is_some_and(|start| now.duration_since(*start) >= START_WINDOW) {
            self.0.pop_front();
        }
        if self.0.len() >= MAX_STARTS {
            return false;
        }
        self.0.push_back(now);
        true
    }

    /// Forgets all starts, on request of the host.
    pub(super) fn reset(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(kind: ServerKind, jitter: f64, many: usize) -> Vec<Option<u128>> {
        let mut backoff = Backoff::new(kind);
        (0..many).map(|_| backoff.next(jitter).map(|wait| wait.as_millis())).collect()
    }

    #[test]
    fn a_local_server_is_given_up_after_four_attempts() {
        assert_eq!(
            waits(ServerKind::Local, 0.5, 6),
            [Some(500), Some(1000), Some(2000), Some(4000), None, None]
        );
    }

    #[test]
    fn a_remote_server_is_retried_forever_at_growing_intervals() {
        let seconds: Vec<_> = waits(ServerKind::Remote, 0.5, 12)
            .into_iter()
            .map(|wait| wait.unwrap() / 1000)
            .collect();
        assert_eq!(seconds, [0, 1, 2, 4, 15, 30, 60, 120, 240, 300, 300, 300]);
        let mut backoff = Backoff { kind: ServerKind::Remote, step: u32::MAX };
        assert_eq!(backoff.next(0.5), Some(MAX_WAIT));
    }

    #[test]
    fn jitter_spreads_the_attempts_by_a_quarter_each_way() {
        assert_eq!(waits(ServerKind::Local, 0.0, 1), [Some(375)]);
        assert_eq!(waits(ServerKind::Local, 1.0, 1), [Some(625)]);
        assert_eq!(waits(ServerKind::Local, 7.0, 1), [Some(625)]);
    }

    #[test]
    fn a_server_that_never_connected_starts_with_the_long_waits() {
        let mut backoff = Backoff::new(ServerKind::Remote);
        backoff.skip_short_waits();
        assert_eq!(backoff.next(0.5), Some(FIRST_LONG_WAIT));
        backoff.reset();
        assert_eq!(backoff.next(0.5), Some(SHORT_WAITS[0]));
    }

    #[test]
    fn the_sixth_start_within_thirty_seconds_is_refused() {
        let mut circuit_breaker = CircuitBreaker::default();
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let admitted: Vec<bool> =
            (0..6).map(|second| circuit_breaker.allow_start(at(second))).collect();
        assert_eq!(admitted, [true, true, true, true, true, false]);
        assert!(!circuit_breaker.allow_start(at(29)), "still five starts in the last half minute");
        assert!(circuit_breaker.allow_start(at(31)), "the first of them is long ago");
        circuit_breaker.reset();
        assert!(circuit_breaker.allow_start(at(31)));
    }
}
