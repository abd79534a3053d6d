//! How long somebody still waits: the limits of one request while it is under way.
//!
//! Whoever keeps the time comes back at [`Patience::until`], tells the last sign of life, and learns
//! whether to go on. HTTP requests keep their own time (`wire`); a connection over pipes keeps it for
//! all its requests together (`pending`).

use std::time::Duration;

use tokio::time::Instant;

use super::Deadline;

/// The limits of a request that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    deadline: Deadline,
    began: Instant,
    last: Instant,
    until: Instant,
}

impl Patience {
    /// Begins to wait now; `None` if there is no limit that could ever be reached.
    pub(crate) fn begin(deadline: Deadline) -> Option<Self> {
        if deadline == Deadline::never() {
            return None;
        }
        let began = Instant::now();
        let until = earlier(began.checked_add(deadline.idle), began.checked_add(deadline.cap))?;
        Some(Self { deadline, began, last: began, until })
    }

    /// Returns when to look again.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// Goes on if there was a sign of life meanwhile; the error is the limit that passed.
    pub(crate) fn renew(&mut self, latest: Option<Instant>) -> Result<(), Duration> {
        let end = self.began.checked_add(self.deadline.cap);
        if end.is_some_and(|end| self.until >= end) {
            return Err(self.deadline.cap);
        }
        let idle = self.deadline.idle;
        self.last = latest.filter(|latest| *latest > self.last).ok_or(idle)?;
        self.until = earlier(self.last.checked_add(idle), end).ok_or(idle)?;
        Ok(())
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
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
    fn a_sign_of_life_renews_the_idle_limit_but_not_the_cap() {
        let deadline = Deadline { idle: 2 * SECOND, cap: 3 * SECOND };
        let mut patience = Patience::begin(deadline).unwrap();
        let began = patience.began;
        assert_eq!(patience.until(), began + 2 * SECOND);
        assert_eq!(patience.renew(Some(began + SECOND)), Ok(()));
        assert_eq!(patience.until(), began + 3 * SECOND);
        assert_eq!(patience.renew(Some(began + 2 * SECOND)), Err(3 * SECOND));
    }

    #[test]
    fn silence_is_the_end() {
        let mut patience = Patience::begin(Deadline { idle: SECOND, cap: 9 * SECOND }).unwrap();
        let began = patience.began;
        assert_eq!(patience.renew(Some(began + SECOND / 2)), Ok(()));
        assert_eq!(patience.renew(Some(began + SECOND / 2)), Err(SECOND));
        assert_eq!(patience.renew(None), Err(SECOND));
    }

    #[test]
    fn who_never_gives_up_needs_no_clock() {
        assert!(Patience::begin(Deadline::never()).is_none());
        assert!(Patience::begin(Deadline { idle: SECOND, cap: Duration::MAX }).is_some());
    }
}
