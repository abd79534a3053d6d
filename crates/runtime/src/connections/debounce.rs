//! Debounces list-changed notifications: decides when the tools of a server are listed again.
//!
//! Changes in quick succession cause one request. The waits grow for a server that changes its
//! tools constantly.

use std::time::Duration;

use tokio::time::Instant;

/// How long changes are collected before the list is requested.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// The longest wait for a server that changes its tools constantly.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The shortest time between requests that are only due to expiry.
const MIN_TTL: Duration = Duration::from_secs(10);

/// The wait before a failed list is requested again.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Decides when to list again.
#[derive(Debug)]
pub(super) struct ListDebounce {
    next: Option<Instant>,
    is_idle: bool,
    last: Instant,
    wait: Duration,
}

impl ListDebounce {
    /// Starts after a list with this time to live; zero means none was given.
    pub(super) fn new(ttl: Duration) -> Self {
        let mut debounce = Self { next: None, is_idle: true, last: Instant::now(), wait: DEBOUNCE };
        debounce.schedule_expiry(ttl);
        debounce
    }

    /// Tells whether no request is scheduled because of a change.
    pub(super) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Records a change.
    pub(super) fn note_change(&mut self) {
        let now = Instant::now();
        let is_quick = now.duration_since(self.last) < self.wait.saturating_mul(4);
        self.wait = if is_quick { (self.wait * 2).min(MAX_WAIT) } else { DEBOUNCE };
        self.is_idle = false;
        self.next = Some(now + self.wait);
    }

    /// Schedules a request for now.
    pub(super) fn list_now(&mut self) {
        self.is_idle = false;
        self.next = Some(Instant::now());
    }

    /// Records a new list.
    pub(super) fn note_list(&mut self, ttl: Duration) {
        self.last = Instant::now();
        self.is_idle = true;
        self.schedule_expiry(ttl);
    }

    /// Records a failed list.
    pub(super) fn note_failure(&mut self) {
        self.is_idle = true;
        self.next = Some(Instant::now() + RETRY_DELAY);
    }

    /// Waits until the next request is due.
    pub(super) async fn wait_until_due(&self) {
        match self.next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    fn schedule_expiry(&mut self, ttl: Duration) {
        let ttl = (ttl > Duration::ZERO).then(|| ttl.max(MIN_TTL));
        self.next = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn changes_in_quick_succession_are_one() {
        let mut debounce = ListDebounce::new(Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let began = Instant::now();
        debounce.note_change();
        assert!(!debounce.is_idle());
        debounce.wait_until_due().await;
        assert_eq!(began.elapsed(), DEBOUNCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_changes_constantly_is_requested_at_growing_intervals() {
        let mut debounce = ListDebounce::new(Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let mut waits = Vec::new();
        for _ in 0..12 {
            let began = Instant::now();
            debounce.note_change();
            debounce.wait_until_due().await;
            waits.push(began.elapsed().as_millis());
            debounce.note_list(Duration::ZERO);
        }
        assert_eq!(waits[..4], [100, 200, 400, 800]);
        assert_eq!(waits[11], 30_000);
        tokio::time::advance(Duration::from_secs(600)).await;
        let began = Instant::now();
        debounce.note_change();
        debounce.wait_until_due().await;
        assert_eq!(began.elapsed(), DEBOUNCE, "the wait is reset after a while");
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_list_is_requested_again_at_a_limited_rate() {
        for (ttl, wait) in [(1, 10), (25, 25)] {
            let debounce = ListDebounce::new(Duration::from_secs(ttl));
            let began = Instant::now();
            debounce.wait_until_due().await;
            assert_eq!(began.elapsed().as_secs(), wait);
        }
        let silent = ListDebounce::new(Duration::ZERO);
        let waiting =
            tokio::time::timeout(Duration::from_secs(86_400), silent.wait_until_due()).await;
        assert!(waiting.is_err());
    }
}
