//! The deadline timer of one request: its idle timeout and its cap.
//!
//! The caller comes back at [`DeadlineTimer::next_check`] and passes the time of the last
//! activity; the timer then continues or reports a timeout. Each HTTP request has its
//! own timer loop (`peer`); over stdio one loop checks all requests of the connection
//! (`pending_requests`).

use std::time::Duration;

use tokio::time::Instant;

use super::Deadline;

/// The deadline of a pending request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeadlineTimer {
    deadline: Deadline,
    began: Instant,
    last: Instant,
    until: Instant,
}

impl DeadlineTimer {
    /// Starts the timer now; `None` if the deadline has no limit.
    pub(crate) fn start(deadline: Deadline) -> Option<Self> {
        if deadline == Deadline::never() {
            return None;
        }
        let began = Instant::now();
        let until = earliest(began.checked_add(deadline.idle), began.checked_add(deadline.cap))?;
        Some(Self { deadline, began, last: began, until })
    }

    /// Returns when to check the timer again.
    pub(crate) fn next_check(&self) -> Instant {
        self.until
    }

    /// Continues if there was activity in the meantime; the error is the limit that was reached.
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
