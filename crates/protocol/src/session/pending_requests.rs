//! Who waits for which answer.
//!
//! An entry is made before its request is written and removed by whoever is first: the answer, the
//! end of the session, or the one who asked and gave up. The table also keeps the time of those who
//! do not keep it themselves: one clock for all of them, because most are answered long before.
//!
//! What belongs to others (listeners, those who wait) is called, woken and dropped when the table
//! is free again: they may do anything, also give up another request.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::deadline_timer::DeadlineTimer;
use super::{RequestError, SessionEnd};
use crate::Json;
use crate::envelope::RpcError;

/// What arrives for one who waits.
#[derive(Debug)]
pub(crate) enum RequestOutcome {
    /// The server answered.
    Response(Result<Json, RpcError>),
    /// The server answered with an error that does not say to what.
    Unidentified(RpcError),
    /// The answer came, but is over the limit.
    TooLarge { limit: usize },
    /// The session ended; a request that was never written is safe to repeat elsewhere.
    Lost { ended: Arc<SessionEnd>, never_sent: bool },
    /// A limit has passed. The entry is still there, for the one who waits to take back.
    TimedOut { limit: Duration },
}

impl RequestOutcome {
    /// Makes a result of what arrived.
    pub(crate) fn into_result(self) -> Result<Json, RequestError> {
        match self {
            Self::Response(outcome) => outcome.map_err(RequestError::Refused),
            Self::Unidentified(error) => Err(RequestError::Inconclusive { error, status: None }),
            Self::TooLarge { limit } => Err(RequestError::TooLarge { limit }),
            Self::Lost { ended, never_sent } => Err(RequestError::Lost { ended, never_sent }),
            Self::TimedOut { limit } => Err(RequestError::TimedOut { limit, never_sent: false }),
        }
    }
}

/// Waits for an answer that arrives through the table of requests.
pub(crate) async fn wait_for_outcome(
    answer: oneshot::Receiver<RequestOutcome>,
) -> Result<Json, RequestError> {
    // An entry is removed without an answer only by the one who asks.
    answer.await.map_or(Err(RequestError::StreamEnded), RequestOutcome::into_result)
}

/// Who sees what a server sends about a request before it answers.
pub(crate) enum Observer {
    /// Nobody: nothing counts before the answer.
    None,
    /// The clock alone: the server is still at it.
    Timer,
    /// The clock, and somebody who wants to know how far the server is.
    Listener(Arc<dyn Fn(Json) + Send + Sync>),
    /// Somebody who wants the acknowledgement of a subscription, until it has come.
    Subscriber(Option<oneshot::Sender<SubscriptionAck>>),
}

/// The acknowledgement of a subscription.
pub(crate) struct SubscriptionAck {
    pub(crate) params: Json,
    /// Whether it came before the answer to the request after the subscription.
    pub(crate) is_before_next_response: bool,
}

struct PendingEntry {
    /// Is gone once the entry is overdue.
    answer: Option<oneshot::Sender<RequestOutcome>>,
    observer: Observer,
    /// When the server last said that it is still at it.
    last_activity: Option<Instant>,
    timer: Option<DeadlineTimer>,
}

impl PendingEntry {
    fn complete(self, answer: RequestOutcome) -> bool {
        self.answer.is_some_and(|waiting| waiting.send(answer).is_ok())
    }
}

/// All requests of a session that have no answer yet.
#[derive(Default)]
pub(crate) struct PendingRequests {
    table: Mutex<RequestTable>,
    /// Wakes the one who keeps the time, to look sooner than planned.
    earlier_deadline: Notify,
}

#[derive(Default)]
struct RequestTable {
    entries: HashMap<u64, PendingEntry>,
    ended: Option<Arc<SessionEnd>>,
    /// When to look for requests that are overdue; there may be none by then.
    next_check: Option<Instant>,
}

impl PendingRequests {
    /// Enters a request; fails when the session is over. Returns also how many now wait.
    ///
    /// With `timer`, its time is kept here, as long as [`PendingRequests::run_timer`] runs.
    pub(crate) fn insert(
        &self,
        id: u64,
        observer: Observer,
        timer: Option<DeadlineTimer>,
    ) -> Result<(oneshot::Receiver<RequestOutcome>, usize), Arc<SessionEnd>> {
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
            PendingEntry { answer: Some(answer), observer, last_activity: None, timer },
        );
        Ok((receiver, table.entries.len()))
    }

    /// Tells those who wait when a limit has passed. May be dropped at any time.
    ///
    /// `last_activity` is the last sign of life that counts for all requests.
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
            // Whoever has stopped waiting is about to remove the entry.
            drop(waiting.send(RequestOutcome::TimedOut { limit }));
        }
    }

    /// Removes a request whose answer nobody wants any more; `false` if it is answered already.
    pub(crate) fn remove(&self, id: u64) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some()
    }

    /// Gives the answer to the one who waits; `false` if nobody does.
    pub(crate) fn complete(&self, id: u64, answer: RequestOutcome) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some_and(|entry| entry.complete(answer))
    }

    /// Returns the id of the oldest request.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.table().entries.keys().min().copied()
    }

    /// Returns the id of the one request that waits, if it is one.
    pub(crate) fn single(&self) -> Option<u64> {
        let table = self.table();
        let mut ids = table.entries.keys();
        ids.next().filter(|_| ids.next().is_none()).copied()
    }

    /// Tells whether a request waits for its answer.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.table().entries.contains_key(&id)
    }

    /// Notes that the server is still at a request, and tells who wants to know how far.
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
            // A listener that panics costs its own call at most, not the session.
            drop(catch_unwind(AssertUnwindSafe(|| listener(params.clone()))));
        }
    }

    /// Returns when the server last said that it is still at a request.
    pub(crate) fn last_activity(&self, id: u64) -> Option<Instant> {
        self.table().entries.get(&id)?.last_activity
    }

    /// Tells whether a request is a subscription.
    pub(crate) fn is_subscription(&self, id: u64) -> bool {
        let table = self.table();
        table.entries.get(&id).is_some_and(|it| matches!(it.observer, Observer::Subscriber(_)))
    }

    /// Returns who waits for the acknowledgement of a subscription, once.
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

    /// Ends the session for everybody: all who wait learn why, and nobody can enter any more.
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
            // Whoever has stopped waiting does not need to know.
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
    use super::super::{Deadline, EndReason};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Lets the table keep the time until the answer is there.
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
        pending.insert(id, Observer::None, DeadlineTimer::start(deadline)).unwrap().0
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_timed_out_can_still_be_removed() {
        let pending = PendingRequests::default();
        let patient = enter(&pending, 1, Deadline::within(5 * SECOND));
        let hasty = enter(&pending, 2, Deadline::within(SECOND));
        let first = outcome_of(&pending, hasty).await;
        assert_eq!(first, "TimedOut { limit: 1s } after 1.0s");
        assert!(pending.remove(2), "the entry was left");
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
            _ = outcome_of(&pending, patient) => panic!("the wrong one was first"),
        };
        assert!(matches!(answer, RequestOutcome::TimedOut { limit: SECOND }));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_extends_the_idle_limit() {
        let pending = PendingRequests::default();
        let timer = DeadlineTimer::start(Deadline { idle: 2 * SECOND, cap: 9 * SECOND });
        let (answer, _) = pending.insert(1, Observer::Timer, timer).unwrap();
        tokio::time::advance(SECOND).await;
        pending.note_progress(1, &Json::object());
        let answer = outcome_of(&pending, answer).await;
        assert_eq!(answer, "TimedOut { limit: 2s } after 2.0s");
    }

    #[test]
    fn a_panicking_listener_does_not_affect_the_session() {
        let pending = PendingRequests::default();
        let listener = Observer::Listener(Arc::new(|_| panic!("on purpose")));
        let (_answer, _) = pending.insert(1, listener, None).unwrap();
        pending.note_progress(1, &Json::object());
        assert!(pending.is_open(1));
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

    /// Gives a request up when it is dropped.
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
            // If it waited for itself, the thread would stay behind.
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
            let left = has_ended.recv_timeout(10 * SECOND).expect("nobody waits for himself");
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
