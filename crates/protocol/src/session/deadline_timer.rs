//! How long somebody still waits: the limits of one request while it is under way.
//!
//! Whoever keeps the time comes back at [`DeadlineTimer::next_check`], tells the last sign of life,
//! and learns whether to go on. HTTP requests keep their own time (`wire`); a connection over pipes
//! keeps it for all its requests together (`pending_requests`).

use std::time::Duration;

use tokio::time::Instant;

use super::Deadline;

/// The limits of a request that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeadlineTimer {
    deadline: Deadline,
    began: Instant,
    last: Instant,
    until: Instant,
}

impl DeadlineTimer {
    /// Begins to wait now; `None` if there is no limit that could ever be reached.
    pub(crate) fn start(deadline: Deadline) -> Option<Self> {
        if deadline == Deadline::never() {
            return None;
        }
        let began = Instant::now();
        let until = earliest(began.checked_add(deadline.idle), began.checked_add(deadline.cap))?;
        Some(Self { deadline, began, last: began, until })
    }

    /// Returns when to look again.
    pub(crate) fn next_check(&self) -> Instant {
        self.until
    }

    /// Goes on if there was a sign of life meanwhile; the error is the limit that passed.
    pub(crate) fn extend(&mut self, latest: Option<Instant>) -> Result<(), Duration> {
        let end = self.began.checked_add(self.deadline.cap);
        if end.is_some_and(|end| self.until >= end) {
            return Err(self.deadline.cap);
        }
        let idle = self.deadline.idle;
        self.last = latest.filter(|latest| *latest > self.last).ok_or(idle)?;
        self.until = earliest(self.last.checked_add(idle), end).ok_or(idle)?;
        Ok(())
    }
}

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn activity_extends_the_idle_limit_but_not_the_cap() {
        let deadline = Deadline { idle: 2 * SECOND, cap: 3 * SECOND };
        let mut timer = DeadlineTimer::start(deadline).unwrap();
        let began = timer.began;
        assert_eq!(timer.next_check(), began + 2 * SECOND);
        assert_eq!(timer.extend(Some(began + SECOND)), Ok(()));
        assert_eq!(timer.next_check(), began + 3 * SECOND);
        assert_eq!(timer.extend(Some(began + 2 * SECOND)), Err(3 * SECOND));
    }

    #[test]
    fn the_timer_ends_without_activity() {
        let mut timer = DeadlineTimer::start(Deadline { idle: SECOND, cap: 9 * SECOND }).unwrap();
        let began = timer.began;
        assert_eq!(timer.extend(Some(began + SECOND / 2)), Ok(()));
        assert_eq!(timer.extend(Some(began + SECOND / 2)), Err(SECOND));
        assert_eq!(timer.extend(None), Err(SECOND));
    }

    #[test]
    fn an_unlimited_deadline_needs_no_timer() {
        assert!(DeadlineTimer::start(Deadline::never()).is_none());
        assert!(DeadlineTimer::start(Deadline { idle: SECOND, cap: Duration::MAX }).is_some());
    }
}
