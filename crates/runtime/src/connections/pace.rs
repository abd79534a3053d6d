//! When a server's tools are listed again: soon after they changed, but never in a hurry without end.
//!
//! Changes that come close together are one change. A server that changes its tools all the time is
//! asked ever more rarely.

use std::time::Duration;

use tokio::time::Instant;

/// How long changes of a list are collected before it is asked for.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// The longest wait for a server that changes its tools all the time.
const LONGEST: Duration = Duration::from_secs(30);

/// A list is not asked for more often than this just because it expires.
const SHORTEST_HOLD: Duration = Duration::from_secs(10);

/// How long to wait before a list that failed is asked for again.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// Decides when to list again.
#[derive(Debug)]
pub(super) struct Pace {
    next: Option<Instant>,
    is_calm: bool,
    last: Instant,
    wait: Duration,
}

impl Pace {
    /// Begins after a list that holds for so long by the server's own word; zero says nothing.
    pub(super) fn new(holds: Duration) -> Self {
        let mut pace = Self { next: None, is_calm: true, last: Instant::now(), wait: DEBOUNCE };
        pace.expires(holds);
        pace
    }

    /// Tells whether no change waits to be looked at.
    pub(super) fn is_calm(&self) -> bool {
        self.is_calm
    }

    /// Takes note of a change.
    pub(super) fn changed(&mut self) {
        let now = Instant::now();
        let is_quick = now.duration_since(self.last) < self.wait.saturating_mul(4);
        self.wait = if is_quick { (self.wait * 2).min(LONGEST) } else { DEBOUNCE };
        self.is_calm = false;
        self.next = Some(now + self.wait);
    }

    /// Lists again at once.
    pub(super) fn hurry(&mut self) {
        self.is_calm = false;
        self.next = Some(Instant::now());
    }

    /// Takes note of a new list.
    pub(super) fn listed(&mut self, holds: Duration) {
        self.last = Instant::now();
        self.is_calm = true;
        self.expires(holds);
    }

    /// Takes note of a list that did not come.
    pub(super) fn failed(&mut self) {
        self.is_calm = true;
        self.next = Some(Instant::now() + AFTER_FAILURE);
    }

    /// Waits until it is time to list again.
    pub(super) async fn due(&self) {
        match self.next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    fn expires(&mut self, holds: Duration) {
        let holds = (holds > Duration::ZERO).then(|| holds.max(SHORTEST_HOLD));
        self.next = holds.and_then(|holds| Instant::now().checked_add(holds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn changes_that_come_close_together_are_one() {
        let mut pace = Pace::new(Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let began = Instant::now();
        pace.changed();
        assert!(!pace.is_calm());
        pace.due().await;
        assert_eq!(began.elapsed(), DEBOUNCE);
    }

    #[tokio::test(start_paused = true)]
    async fn who_changes_all_the_time_is_asked_ever_more_rarely() {
        let mut pace = Pace::new(Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let mut waits = Vec::new();
        for _ in 0..12 {
            let began = Instant::now();
            pace.changed();
            pace.due().await;
            waits.push(began.elapsed().as_millis());
            pace.listed(Duration::ZERO);
        }
        assert_eq!(waits[..4], [100, 200, 400, 800]);
        assert_eq!(waits[11], 30_000);
        tokio::time::advance(Duration::from_secs(600)).await;
        let began = Instant::now();
        pace.changed();
        pace.due().await;
        assert_eq!(began.elapsed(), DEBOUNCE, "all is forgiven after a while");
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_expires_is_listed_again_but_not_all_the_time() {
        for (holds, wait) in [(1, 10), (25, 25)] {
            let pace = Pace::new(Duration::from_secs(holds));
            let began = Instant::now();
            pace.due().await;
            assert_eq!(began.elapsed().as_secs(), wait);
        }
        let silent = Pace::new(Duration::ZERO);
        let waiting = tokio::time::timeout(Duration::from_secs(86_400), silent.due()).await;
        assert!(waiting.is_err());
    }
}
