//! Who waits for which answer.
//!
//! An entry is made before its request is written and removed by whoever is first: the answer, the
//! end of the session, or the one who asked and gave up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Ended, RequestError};
use crate::Json;
use crate::envelope::RpcError;

/// What arrives for one who waits.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The server answered.
    Outcome(Result<Json, RpcError>),
    /// The answer came, but is over the limit.
    TooLarge { limit: usize },
    /// The session ended; a request that was never written is safe to repeat elsewhere.
    Lost { ended: Arc<Ended>, never_sent: bool },
}

impl Answer {
    /// Makes a result of what arrived.
    pub(crate) fn into_result(self) -> Result<Json, RequestError> {
        match self {
            Self::Outcome(outcome) => outcome.map_err(RequestError::Refused),
            Self::TooLarge { limit } => Err(RequestError::TooLarge { limit }),
            Self::Lost { ended, never_sent } => Err(RequestError::Lost { ended, never_sent }),
        }
    }
}

/// Sees what a server sends about a request before it answers.
pub(crate) enum Observer {
    /// Wants to know that the server is still at it, and perhaps how far.
    Progress(Progress),
    /// Wants the acknowledgement of a subscription.
    Acknowledgement(Mutex<Option<oneshot::Sender<Json>>>),
}

/// The sign of life that keeps a request from timing out.
pub(crate) struct Progress {
    began: Instant,
    last: AtomicU64,
    report: Option<Arc<dyn Fn(Json) + Send + Sync>>,
}

impl Progress {
    pub(crate) fn new(report: Option<Arc<dyn Fn(Json) + Send + Sync>>) -> Self {
        Self { began: Instant::now(), last: AtomicU64::new(0), report }
    }

    /// Notes a sign of life and passes its content on.
    pub(crate) fn note(&self, params: Json) {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(elapsed, Ordering::Relaxed);
        if let Some(report) = &self.report {
            report(params);
        }
    }

    /// Returns when the last sign of life came.
    pub(crate) fn latest(&self) -> Instant {
        self.began + std::time::Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

struct Entry {
    answer: oneshot::Sender<Answer>,
    observer: Option<Arc<Observer>>,
}

/// Hashes ids, which we choose ourselves and in order: spreading their bits is enough.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// All requests of a session that have no answer yet.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Table>);

#[derive(Default)]
struct Table {
    entries: HashMap<u64, Entry, BuildHasherDefault<Spread>>,
    ended: Option<Arc<Ended>>,
}

impl Pending {
    /// Enters a request; fails when the session is over. Returns also how many now wait.
    pub(crate) fn enter(
        &self,
        id: u64,
        observer: Option<Arc<Observer>>,
    ) -> Result<(oneshot::Receiver<Answer>, usize), Arc<Ended>> {
        let (answer, receiver) = oneshot::channel();
        let mut table = self.table();
        if let Some(ended) = &table.ended {
            return Err(Arc::clone(ended));
        }
        table.entries.insert(id, Entry { answer, observer });
        Ok((receiver, table.entries.len()))
    }

    /// Removes a request whose answer nobody wants any more; `false` if it is answered already.
    pub(crate) fn leave(&self, id: u64) -> bool {
        self.table().entries.remove(&id).is_some()
    }

    /// Gives the answer to the one who waits; `false` if nobody does.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        let entry = self.table().entries.remove(&id);
        entry.is_some_and(|entry| entry.answer.send(answer).is_ok())
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

    /// Returns who watches a request.
    pub(crate) fn observer(&self, id: u64) -> Option<Arc<Observer>> {
        self.table().entries.get(&id)?.observer.clone()
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
            drop(entry.answer.send(Answer::Lost { ended: Arc::clone(ended), never_sent }));
        }
    }

    /// Returns how the session ended, if it has.
    pub(crate) fn ended(&self) -> Option<Arc<Ended>> {
        self.table().ended.clone()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
