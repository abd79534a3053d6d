//! Who waits for which answer.
//!
//! An entry is made before its request is written and removed by whoever is first: the answer, the
//! end of the session, or the one who asked and gave up. The table also keeps the time of those who
//! do not keep it themselves: one clock for all of them, because most are answered long before.
//!
//! What belongs to others (listeners, those who wait) is called, woken and dropped when the table is
//! free again: they may do anything, also give up another request.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::patience::Patience;
use super::{Ended, RequestError};
use crate::Json;
use crate::envelope::RpcError;

/// What arrives for one who waits.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The server answered.
    Outcome(Result<Json, RpcError>),
    /// The server answered with an error that does not say to what.
    Unidentified(RpcError),
    /// The answer came, but is over the limit.
    TooLarge { limit: usize },
    /// The session ended; a request that was never written is safe to repeat elsewhere.
    Lost { ended: Arc<Ended>, never_sent: bool },
    /// A limit has passed. The entry is still there, for the one who waits to take back.
    Overdue { limit: Duration },
}

impl Answer {
    /// Makes a result of what arrived.
    pub(crate) fn into_result(self) -> Result<Json, RequestError> {
        match self {
            Self::Outcome(outcome) => outcome.map_err(RequestError::Refused),
            Self::Unidentified(error) => Err(RequestError::Inconclusive { error, status: None }),
            Self::TooLarge { limit } => Err(RequestError::TooLarge { limit }),
            Self::Lost { ended, never_sent } => Err(RequestError::Lost { ended, never_sent }),
            Self::Overdue { limit } => Err(RequestError::TimedOut { limit, never_sent: false }),
        }
    }
}

/// Waits for an answer that arrives through the table of requests.
pub(crate) async fn awaited(answer: oneshot::Receiver<Answer>) -> Result<Json, RequestError> {
    // An entry is removed without an answer only by the one who asks.
    answer.await.map_or(Err(RequestError::Cut), Answer::into_result)
}

/// Who sees what a server sends about a request before it answers.
pub(crate) enum Observer {
    /// Nobody: nothing counts before the answer.
    Nobody,
    /// The clock alone: the server is still at it.
    Clock,
    /// The clock, and somebody who wants to know how far the server is.
    Listener(Arc<dyn Fn(Json) + Send + Sync>),
    /// Somebody who wants the acknowledgement of a subscription, until it has come.
    Subscriber(Option<oneshot::Sender<Heard>>),
}

/// The acknowledgement of a subscription.
pub(crate) struct Heard {
    pub(crate) params: Json,
    /// Whether it came before the answer to the request after the subscription.
    pub(crate) is_ahead: bool,
}

struct Entry {
    /// Is gone once the entry is overdue.
    answer: Option<oneshot::Sender<Answer>>,
    observer: Observer,
    /// When the server last said that it is still at it.
    sign: Option<Instant>,
    patience: Option<Patience>,
}

impl Entry {
    fn answer(self, answer: Answer) -> bool {
        self.answer.is_some_and(|waiting| waiting.send(answer).is_ok())
    }
}

/// All requests of a session that have no answer yet.
#[derive(Default)]
pub(crate) struct Pending {
    table: Mutex<Table>,
    /// Wakes the one who keeps the time, to look sooner than planned.
    sooner: Notify,
}

#[derive(Default)]
struct Table {
    entries: HashMap<u64, Entry>,
    ended: Option<Arc<Ended>>,
    /// When to look for requests that are overdue; there may be none by then.
    look_at: Option<Instant>,
}

impl Pending {
    /// Enters a request; fails when the session is over. Returns also how many now wait.
    ///
    /// With `patience`, its time is kept here, as long as [`Pending::keep_time`] runs.
    pub(crate) fn enter(
        &self,
        id: u64,
        observer: Observer,
        patience: Option<Patience>,
    ) -> Result<(oneshot::Receiver<Answer>, usize), Arc<Ended>> {
        let (answer, receiver) = oneshot::channel();
        let mut table = self.table();
        if let Some(ended) = &table.ended {
            return Err(Arc::clone(ended));
        }
        if let Some(until) = patience.map(|patience| patience.until())
            && table.look_at.is_none_or(|planned| until < planned)
        {
            table.look_at = Some(until);
            self.sooner.notify_one();
        }
        table.entries.insert(id, Entry { answer: Some(answer), observer, sign: None, patience });
        Ok((receiver, table.entries.len()))
    }

    /// Tells those who wait when a limit has passed. May be dropped at any time.
    ///
    /// `sign` is the last sign of life that counts for all requests.
    pub(crate) async fn keep_time(&self, sign: impl Fn() -> Option<Instant>) -> Infallible {
        loop {
            let look_at = self.table().look_at;
            match look_at {
                None => self.sooner.notified().await,
                Some(moment) => {
                    if tokio::time::timeout_at(moment, self.sooner.notified()).await.is_err() {
                        self.find_overdue(Instant::now(), sign());
                    }
                }
            }
        }
    }

    fn find_overdue(&self, now: Instant, sign: Option<Instant>) {
        let mut overdue = Vec::new();
        let mut table = self.table();
        let mut look_at: Option<Instant> = None;
        for entry in table.entries.values_mut() {
            let Some(patience) = &mut entry.patience else { continue };
            if patience.until() <= now
                && let Err(limit) = patience.renew(entry.sign.max(sign))
            {
                entry.patience = None;
                overdue.extend(entry.answer.take().map(|waiting| (waiting, limit)));
                continue;
            }
            let until = patience.until();
            look_at = Some(look_at.map_or(until, |sooner| sooner.min(until)));
        }
        table.look_at = look_at;
        drop(table);
        for (waiting, limit) in overdue {
            // Whoever has stopped waiting is about to remove the entry.
            drop(waiting.send(Answer::Overdue { limit }));
        }
    }

    /// Removes a request whose answer nobody wants any more; `false` if it is answered already.
    pub(crate) fn leave(&self, id: u64) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some()
    }

    /// Gives the answer to the one who waits; `false` if nobody does.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some_and(|entry| entry.answer(answer))
    }

    /// Returns the id of the oldest request.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.table().entries.keys().min().copied()
    }

    /// Returns the id of the one request that waits, if it is one.
    pub(crate) fn only(&self) -> Option<u64> {
        let table = self.table();
        let mut ids = table.entries.keys();
        ids.next().filter(|_| ids.next().is_none()).copied()
    }

    /// Tells whether a request waits for its answer.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.table().entries.contains_key(&id)
    }

    /// Notes that the server is still at a request, and tells who wants to know how far.
    pub(crate) fn progressed(&self, id: u64, params: &Json) {
        let listener = {
            let mut table = self.table();
            let Some(entry) = table.entries.get_mut(&id) else { return };
            let listener = match &entry.observer {
                Observer::Clock => None,
                Observer::Listener(listener) => Some(Arc::clone(listener)),
                Observer::Nobody | Observer::Subscriber(_) => return,
            };
            entry.sign = Some(Instant::now());
            listener
        };
        if let Some(listener) = listener {
            // A listener that panics costs its own call at most, not the session.
            drop(catch_unwind(AssertUnwindSafe(|| listener(params.clone()))));
        }
    }

    /// Returns when the server last said that it is still at a request.
    pub(crate) fn sign(&self, id: u64) -> Option<Instant> {
        self.table().entries.get(&id)?.sign
    }

    /// Tells whether a request is a subscription.
    pub(crate) fn is_subscription(&self, id: u64) -> bool {
        let table = self.table();
        table.entries.get(&id).is_some_and(|it| matches!(it.observer, Observer::Subscriber(_)))
    }

    /// Returns who waits for the acknowledgement of a subscription, once.
    pub(crate) fn subscriber(&self, id: u64) -> Option<oneshot::Sender<Heard>> {
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
    pub(crate) fn end(&self, ended: &Arc<Ended>, unsent: &[u64]) {
        let entries = {
            let mut table = self.table();
            table.ended.get_or_insert_with(|| Arc::clone(ended));
            std::mem::take(&mut table.entries)
        };
        for (id, entry) in entries {
            let never_sent = unsent.contains(&id);
            // Whoever has stopped waiting does not need to know.
            entry.answer(Answer::Lost { ended: Arc::clone(ended), never_sent });
        }
    }

    /// Returns how the session ended, if it has.
    pub(crate) fn ended(&self) -> Option<Arc<Ended>> {
        self.table().ended.clone()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Deadline, EndReason};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Lets the table keep the time until the answer is there.
    async fn answer_of(pending: &Pending, answer: oneshot::Receiver<Answer>) -> String {
        let began = Instant::now();
        let answer = tokio::select! {
            answer = answer => answer.unwrap(),
            never = pending.keep_time(|| None) => match never {},
        };
        format!("{answer:?} after {:.1?}", began.elapsed())
    }

    fn enter(pending: &Pending, id: u64, deadline: Deadline) -> oneshot::Receiver<Answer> {
        pending.enter(id, Observer::Nobody, Patience::begin(deadline)).unwrap().0
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_told_and_can_still_take_the_request_back() {
        let pending = Pending::default();
        let patient = enter(&pending, 1, Deadline::within(5 * SECOND));
        let hasty = enter(&pending, 2, Deadline::within(SECOND));
        let first = answer_of(&pending, hasty).await;
        assert_eq!(first, "Overdue { limit: 1s } after 1.0s");
        assert!(pending.leave(2), "the entry was left");
        let second = answer_of(&pending, patient).await;
        assert_eq!(second, "Overdue { limit: 5s } after 4.0s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_later_request_with_less_patience_is_not_overlooked() {
        let pending = Pending::default();
        let patient = enter(&pending, 1, Deadline::within(9 * SECOND));
        let later = async {
            tokio::time::sleep(SECOND).await;
            enter(&pending, 2, Deadline::within(SECOND)).await.unwrap()
        };
        let answer = tokio::select! {
            answer = later => answer,
            _ = answer_of(&pending, patient) => panic!("the wrong one was first"),
        };
        assert!(matches!(answer, Answer::Overdue { limit: SECOND }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_is_seen() {
        let pending = Pending::default();
        let patience = Patience::begin(Deadline { idle: 2 * SECOND, cap: 9 * SECOND });
        let (answer, _) = pending.enter(1, Observer::Clock, patience).unwrap();
        tokio::time::advance(SECOND).await;
        pending.progressed(1, &Json::object());
        let answer = answer_of(&pending, answer).await;
        assert_eq!(answer, "Overdue { limit: 2s } after 2.0s");
    }

    #[test]
    fn a_listener_that_panics_costs_nobody_else_anything() {
        let pending = Pending::default();
        let listener = Observer::Listener(Arc::new(|_| panic!("on purpose")));
        let (_answer, _) = pending.enter(1, listener, None).unwrap();
        pending.progressed(1, &Json::object());
        assert!(pending.is_open(1));
    }

    #[tokio::test(start_paused = true)]
    async fn while_the_server_waits_for_us_only_the_cap_counts() {
        let pending = Pending::default();
        let deadline = Deadline { idle: 2 * SECOND, cap: 9 * SECOND };
        let began = Instant::now();
        let check = async |asked: Duration, expected: &str| {
            let answer = enter(&pending, 1, deadline);
            let sign = || Some(Instant::now().min(began + asked));
            let answer = tokio::select! {
                answer = answer => answer.unwrap(),
                never = pending.keep_time(sign) => match never {},
            };
            assert!(pending.leave(1));
            assert_eq!(format!("{answer:?} after {:.1?}", began.elapsed()), expected);
        };
        check(5 * SECOND, "Overdue { limit: 2s } after 7.0s").await;
        check(99 * SECOND, "Overdue { limit: 9s } after 16.0s").await;
    }

    /// Gives a request up when it is dropped.
    struct Dropped(Arc<Pending>, u64);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.leave(self.1);
        }
    }

    #[test]
    fn a_listener_may_give_up_another_request_when_it_is_dropped() {
        fn check(end: impl FnOnce(&Pending) + Send + 'static) {
            let (done, has_ended) = std::sync::mpsc::channel();
            // If it waited for itself, the thread would stay behind.
            std::thread::spawn(move || {
                let pending = Arc::<Pending>::default();
                let _other = pending.enter(2, Observer::Nobody, None).unwrap();
                let owned = Dropped(Arc::clone(&pending), 2);
                let listener = Observer::Listener(Arc::new(move |_| {
                    let _captured = &owned;
                }));
                let _one = pending.enter(1, listener, None).unwrap();
                end(&pending);
                done.send(pending.ids()).unwrap();
            });
            let left = has_ended.recv_timeout(10 * SECOND).expect("nobody waits for himself");
            assert_eq!(left, Vec::<u64>::new());
        }
        check(|pending| assert!(pending.leave(1)));
        check(|pending| assert!(pending.answer(1, Answer::Outcome(Ok(Json::null())))));
        let ended = Arc::new(Ended { reason: EndReason::Closed, stderr: String::new() });
        check(move |pending| pending.end(&ended, &[]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_ends_the_entry() {
        let pending = Pending::default();
        let answer = enter(&pending, 1, Deadline::within(SECOND));
        answer_of(&pending, answer).await;
        assert!(!pending.answer(1, Answer::Outcome(Ok(Json::null()))));
        assert!(!pending.leave(1));
    }
}
