//! The table of requests that wait for a response.
//!
//! An entry is inserted before its request is written. It is removed by the response, by the end of
//! the session, or by the caller that cancels the request. Over stdio the table also checks the
//! deadlines, with one timer for all requests, because most get their response long before.
//! Progress notifications restart the idle timeout of their request.
//!
//! Listeners and receivers are called, woken and dropped only after the lock is released, because
//! they may do anything, for example cancel another request.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::deadline_timer::DeadlineTimer;
use super::{RequestCause, RequestError, SessionEnd, callbacks};
use crate::Json;
use crate::envelope::RpcError;

/// How a pending request ended.
#[derive(Debug)]
pub(crate) enum RequestOutcome {
    /// The server responded.
    Response(Result<Json, RpcError>),
    /// The server responded with an error that has no usable id.
    Unidentified(RpcError),
    /// The response is over the size limit.
    TooLarge { limit: usize },
    /// The session ended. A request that was never sent may be repeated on another session.
    Lost { ended: Arc<SessionEnd>, never_sent: bool },
    /// A deadline has passed. The entry stays in the table; the caller removes it.
    TimedOut { limit: Duration },
}

impl RequestOutcome {
    /// Converts the outcome into the result of the request.
    pub(crate) fn into_result(self) -> Result<Json, RequestError> {
        match self {
            Self::Response(outcome) => outcome.map_err(RequestError::ErrorResponse),
            Self::Unidentified(error) => Err(RequestError::Inconclusive { error, status: None }),
            Self::TooLarge { limit } => Err(RequestError::TooLarge { limit }),
            Self::Lost { ended, never_sent } => Err(RequestError::Lost { ended, never_sent }),
            Self::TimedOut { limit } => Err(RequestError::TimedOut { limit, never_sent: false }),
        }
    }
}

/// Waits for the outcome of a pending request.
#[cfg(feature = "http")]
pub(crate) async fn wait_for_outcome(
    answer: oneshot::Receiver<RequestOutcome>,
) -> Result<Json, RequestError> {
    // Only the caller itself removes an entry without an outcome.
    answer.await.map_or(Err(RequestError::StreamEnded), RequestOutcome::into_result)
}

/// Who gets the notifications of a request before its response.
pub(crate) enum Observer {
    /// Progress is ignored.
    None,
    /// Progress only extends the idle timeout.
    Timer,
    /// Progress extends the idle timeout and goes to a listener.
    Listener(Arc<dyn Fn(Json) + Send + Sync>),
    /// The acknowledgement of a subscription goes to this channel, once.
    Subscriber(Option<oneshot::Sender<SubscriptionAck>>),
}

/// The acknowledgement of a subscription.
pub(crate) struct SubscriptionAck {
    pub(crate) params: Json,
    /// Whether it arrived before the response to the request that was sent after the subscription.
    pub(crate) is_before_next_response: bool,
}

/// How long a server may still work on a request after it was cancelled.
const CANCELLED_MAY_RUN: Duration = Duration::from_secs(60);

struct PendingEntry {
    /// `None` once the request has timed out.
    answer: Option<oneshot::Sender<RequestOutcome>>,
    observer: Observer,
    /// When the server last sent progress.
    last_activity: Option<Instant>,
    timer: Option<DeadlineTimer>,
    /// The host's value for requests that the server sends because of this one.
    cause: Option<RequestCause>,
}

impl PendingEntry {
    fn complete(self, answer: RequestOutcome) -> bool {
        self.answer.is_some_and(|waiting| waiting.send(answer).is_ok())
    }
}

/// Hashes the ids of requests: we count them up, so no server can choose ids that collide.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        // The golden ratio spreads consecutive numbers evenly, also in the highest bits.
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// A map from the ids of requests.
type ById<T> = HashMap<u64, T, BuildHasherDefault<IdHasher>>;

/// All requests of a session that have no response yet.
#[derive(Default)]
pub(crate) struct PendingRequests {
    table: Mutex<RequestTable>,
    /// Wakes the timer loop for an earlier check.
    earlier_deadline: Notify,
}

#[derive(Default)]
struct RequestTable {
    entries: ById<PendingEntry>,
    /// The requests that were cancelled last, each with the time and the cause.
    cancelled: ById<(Instant, Option<RequestCause>)>,
    ended: Option<Arc<SessionEnd>>,
    /// When to check for requests that have timed out; there may be none by then.
    next_check: Option<Instant>,
}

impl PendingRequests {
    /// Adds a request; fails if the session has ended.
    ///
    /// With `timer`, the table checks the deadline while [`PendingRequests::run_timer`] runs.
    pub(crate) fn insert(
        &self,
        id: u64,
        observer: Observer,
        timer: Option<DeadlineTimer>,
    ) -> Result<oneshot::Receiver<RequestOutcome>, Arc<SessionEnd>> {
        let (answer, receiver) = oneshot::channel();
        let mut table = self.table();
        if let Some(ended) = &table.ended {
            return Err(Arc::clone(ended));
        }
        if let Some(until) = timer.map(|timer| timer.next_check())
            && table.next_check.is_none_or(|planned| until < planned)
        {
            table.next_check = Some(until);
            self.earlier_deadline.notify_one();
        }
        table.entries.insert(
            id,
            PendingEntry {
                answer: Some(answer),
                observer,
                last_activity: None,
                timer,
                cause: None,
            },
        );
        Ok(receiver)
    }

    /// Reports a timeout to each request whose deadline has passed. Cancel safe.
    ///
    /// `last_activity` returns the last activity that counts for all requests.
    pub(crate) async fn run_timer(
        &self,
        last_activity: impl Fn() -> Option<Instant>,
    ) -> Infallible {
        loop {
            let next_check = self.table().next_check;
            match next_check {
                None => self.earlier_deadline.notified().await,
                Some(moment) => {
                    if tokio::time::timeout_at(moment, self.earlier_deadline.notified())
                        .await
                        .is_err()
                    {
                        self.time_out_overdue(Instant::now(), last_activity());
                    }
                }
            }
        }
    }

    fn time_out_overdue(&self, now: Instant, last_activity: Option<Instant>) {
        let mut overdue = Vec::new();
        let mut table = self.table();
        let mut next_check: Option<Instant> = None;
        for entry in table.entries.values_mut() {
            let Some(timer) = &mut entry.timer else { continue };
            if timer.next_check() <= now
                && let Err(limit) = timer.extend(entry.last_activity.max(last_activity))
            {
                entry.timer = None;
                overdue.extend(entry.answer.take().map(|waiting| (waiting, limit)));
                continue;
            }
            let until = timer.next_check();
            next_check =
                Some(next_check.map_or(until, |earlier_deadline| earlier_deadline.min(until)));
        }
        table.next_check = next_check;
        drop(table);
        for (waiting, limit) in overdue {
            // If the receiver is gone, its caller is about to remove the entry.
            drop(waiting.send(RequestOutcome::TimedOut { limit }));
        }
    }

    /// Removes a request that is being cancelled; `false` if it already has an outcome. For a while,
    /// the server may still work on it.
    pub(crate) fn cancel(&self, id: u64) -> bool {
        let now = Instant::now();
        let entry = {
            let mut table = self.table();
            let entry = table.entries.remove(&id);
            if let Some(entry) = &entry {
                table.cancelled.retain(|_, (at, _)| now.duration_since(*at) < CANCELLED_MAY_RUN);
                table.cancelled.insert(id, (now, entry.cause.clone()));
            }
            entry
        };
        entry.is_some()
    }

    /// Notes that the server never got a cancelled request.
    pub(crate) fn forget_cancelled(&self, id: u64) {
        let cancelled = self.table().cancelled.remove(&id);
        drop(cancelled);
    }

    /// Removes a request; `false` if it already has an outcome.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn remove(&self, id: u64) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some()
    }

    /// Sets the cause of a pending request.
    pub(crate) fn set_cause(&self, id: u64, cause: RequestCause) {
        if let Some(entry) = self.table().entries.get_mut(&id) {
            entry.cause = Some(cause);
        }
    }

    /// Returns the cause of a pending request.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn cause(&self, id: u64) -> Option<RequestCause> {
        self.table().entries.get(&id)?.cause.clone()
    }

    /// Returns the cause that all requests have which the server may be working on; `None` if they
    /// differ.
    pub(crate) fn common_cause(&self) -> Option<RequestCause> {
        let now = Instant::now();
        let table = self.table();
        let running = table.entries.values().map(|entry| &entry.cause);
        let mut running = running.chain(table.cancelled.values().filter_map(|(since, cause)| {
            (now.duration_since(*since) < CANCELLED_MAY_RUN).then_some(cause)
        }));
        let first = running.next()?;
        running.all(|cause| cause == first).then(|| first.clone())?
    }

    /// Removes a request and sends it its outcome; `false` if nobody waits for it.
    pub(crate) fn complete(&self, id: u64, answer: RequestOutcome) -> bool {
        let entry = {
            let mut table = self.table();
            table.cancelled.remove(&id);
            table.entries.remove(&id)
        };
        entry.is_some_and(|entry| entry.complete(answer))
    }

    /// Returns the id of the oldest request.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.table().entries.keys().min().copied()
    }

    /// Returns the id of the pending request, if there is exactly one.
    pub(crate) fn single(&self) -> Option<u64> {
        let table = self.table();
        let mut ids = table.entries.keys();
        ids.next().filter(|_| ids.next().is_none()).copied()
    }

    /// Tells whether a request is pending.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.table().entries.contains_key(&id)
    }

    /// Notes progress of a request, and passes it to the listener.
    pub(crate) fn note_progress(&self, id: u64, params: &Json) {
        let listener = {
            let mut table = self.table();
            let Some(entry) = table.entries.get_mut(&id) else { return };
            let listener = match &entry.observer {
                Observer::Timer => None,
                Observer::Listener(listener) => Some(Arc::clone(listener)),
                Observer::None | Observer::Subscriber(_) => return,
            };
            entry.last_activity = Some(Instant::now());
            listener
        };
        if let Some(listener) = listener {
            let called = callbacks::call(|| listener(params.clone()));
            if called.is_err() {
                self.remove_listener(id);
            }
        }
    }

    /// Calls the listener of a request no more; progress still extends the idle timeout.
    fn remove_listener(&self, id: u64) {
        let removed = {
            let mut table = self.table();
            let entry = table.entries.get_mut(&id);
            entry.map(|entry| std::mem::replace(&mut entry.observer, Observer::Timer))
        };
        drop(removed);
    }

    /// Returns when the server last sent progress for a request.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn last_activity(&self, id: u64) -> Option<Instant> {
        self.table().entries.get(&id)?.last_activity
    }

    /// Tells whether a request is a subscription.
    pub(crate) fn is_subscription(&self, id: u64) -> bool {
        let table = self.table();
        table.entries.get(&id).is_some_and(|it| matches!(it.observer, Observer::Subscriber(_)))
    }

    /// Returns the channel for the acknowledgement of a subscription, once.
    pub(crate) fn take_subscriber(&self, id: u64) -> Option<oneshot::Sender<SubscriptionAck>> {
        match &mut self.table().entries.get_mut(&id)?.observer {
            Observer::Subscriber(waiting) => waiting.take(),
            _ => None,
        }
    }

    /// Returns the ids of all requests.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.table().entries.keys().copied().collect()
    }

    /// Ends the session: all pending requests fail with the reason, and no new one can be added.
    ///
    /// `unsent` are the requests that were never written.
    pub(crate) fn end(&self, ended: &Arc<SessionEnd>, unsent: &[u64]) {
        let entries = {
            let mut table = self.table();
            table.ended.get_or_insert_with(|| Arc::clone(ended));
            std::mem::take(&mut table.entries)
        };
        for (id, entry) in entries {
            let never_sent = unsent.contains(&id);
            // The result tells whether somebody waits, which does not matter here.
            entry.complete(RequestOutcome::Lost { ended: Arc::clone(ended), never_sent });
        }
    }

    /// Returns how the session ended, if it has.
    pub(crate) fn ended(&self) -> Option<Arc<SessionEnd>> {
        self.table().ended.clone()
    }

    fn table(&self) -> MutexGuard<'_, RequestTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::{Deadline, EndReason};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Runs the timer loop until the request has its outcome.
    async fn outcome_of(
        pending: &PendingRequests,
        answer: oneshot::Receiver<RequestOutcome>,
    ) -> String {
        let began = Instant::now();
        let answer = tokio::select! {
            answer = answer => answer.unwrap(),
            never = pending.run_timer(|| None) => match never {},
        };
        format!("{answer:?} after {:.1?}", began.elapsed())
    }

    fn enter(
        pending: &PendingRequests,
        id: u64,
        deadline: Deadline,
    ) -> oneshot::Receiver<RequestOutcome> {
        pending.insert(id, Observer::None, DeadlineTimer::start(deadline)).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_timed_out_can_still_be_removed() {
        let pending = PendingRequests::default();
        let patient = enter(&pending, 1, Deadline::within(5 * SECOND));
        let hasty = enter(&pending, 2, Deadline::within(SECOND));
        let first = outcome_of(&pending, hasty).await;
        assert_eq!(first, "TimedOut { limit: 1s } after 1.0s");
        assert!(pending.remove(2), "the entry is still in the table");
        let second = outcome_of(&pending, patient).await;
        assert_eq!(second, "TimedOut { limit: 5s } after 4.0s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_later_request_with_a_shorter_deadline_times_out_first() {
        let pending = PendingRequests::default();
        let patient = enter(&pending, 1, Deadline::within(9 * SECOND));
        let later = async {
            tokio::time::sleep(SECOND).await;
            enter(&pending, 2, Deadline::within(SECOND)).await.unwrap()
        };
        let answer = tokio::select! {
            answer = later => answer,
            _ = outcome_of(&pending, patient) => panic!("the later deadline came first"),
        };
        assert!(matches!(answer, RequestOutcome::TimedOut { limit: SECOND }));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_extends_the_idle_limit() {
        let pending = PendingRequests::default();
        let timer = DeadlineTimer::start(Deadline { idle: 2 * SECOND, cap: 9 * SECOND });
        let answer = pending.insert(1, Observer::Timer, timer).unwrap();
        tokio::time::advance(SECOND).await;
        pending.note_progress(1, &Json::object());
        let answer = outcome_of(&pending, answer).await;
        assert_eq!(answer, "TimedOut { limit: 2s } after 2.0s");
    }

    #[test]
    fn a_listener_that_panics_is_not_called_again() {
        let pending = PendingRequests::default();
        let calls = Arc::<AtomicUsize>::default();
        let listener = {
            let calls = Arc::clone(&calls);
            Observer::Listener(Arc::new(move |_| {
                calls.fetch_add(1, Ordering::Relaxed);
                panic!("on purpose")
            }))
        };
        let _answer = pending.insert(1, listener, None).unwrap();
        for _ in 0..2 {
            pending.note_progress(1, &Json::object());
        }
        assert!(pending.is_open(1));
        assert!(pending.last_activity(1).is_some());
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_cap_counts_while_the_server_waits_for_the_client() {
        let pending = PendingRequests::default();
        let deadline = Deadline { idle: 2 * SECOND, cap: 9 * SECOND };
        let began = Instant::now();
        let check = async |asked: Duration, expected: &str| {
            let answer = enter(&pending, 1, deadline);
            let last_activity = || Some(Instant::now().min(began + asked));
            let answer = tokio::select! {
                answer = answer => answer.unwrap(),
                never = pending.run_timer(last_activity) => match never {},
            };
            assert!(pending.remove(1));
            assert_eq!(format!("{answer:?} after {:.1?}", began.elapsed()), expected);
        };
        check(5 * SECOND, "TimedOut { limit: 2s } after 7.0s").await;
        check(99 * SECOND, "TimedOut { limit: 9s } after 16.0s").await;
    }

    /// Removes a request when it is dropped.
    struct Dropped(Arc<PendingRequests>, u64);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.remove(self.1);
        }
    }

    #[test]
    fn a_listener_may_remove_another_request_when_it_is_dropped() {
        fn check(end: impl FnOnce(&PendingRequests) + Send + 'static) {
            let (done, has_ended) = std::sync::mpsc::channel();
            // On a thread, so that a deadlock fails the test instead of blocking it.
            std::thread::spawn(move || {
                let pending = Arc::<PendingRequests>::default();
                let _other = pending.insert(2, Observer::None, None).unwrap();
                let owned = Dropped(Arc::clone(&pending), 2);
                let listener = Observer::Listener(Arc::new(move |_| {
                    let _captured = &owned;
                }));
                let _one = pending.insert(1, listener, None).unwrap();
                end(&pending);
                done.send(pending.ids()).unwrap();
            });
            let left = has_ended.recv_timeout(10 * SECOND).expect("no deadlock");
            assert_eq!(left, Vec::<u64>::new());
        }
        check(|pending| assert!(pending.remove(1)));
        check(|pending| assert!(pending.complete(1, RequestOutcome::Response(Ok(Json::null())))));
        let ended = Arc::new(SessionEnd { reason: EndReason::Closed, stderr: String::new() });
        check(move |pending| pending.end(&ended, &[]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_response_removes_the_entry() {
        let pending = PendingRequests::default();
        let answer = enter(&pending, 1, Deadline::within(SECOND));
        outcome_of(&pending, answer).await;
        assert!(!pending.complete(1, RequestOutcome::Response(Ok(Json::null()))));
        assert!(!pending.remove(1));
    }
}
