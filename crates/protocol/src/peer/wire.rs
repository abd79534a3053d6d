//! Sends one request and waits for its answer, over whatever transport there is.
//!
//! Dropping the future takes the request back: off the queue if it is still there, else by telling
//! the server. Every wait has a limit; a sign of life from the server starts the idle limit anew.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use super::pending::{Answer, Observer, Progress};
use super::{Core, Deadline, RequestError};
use crate::Json;
use crate::envelope;
use crate::transport::{Link, Unsent};

/// A request that is ready to be sent.
pub(crate) struct Question<'a> {
    /// Its id, from [`Core::next_id`].
    pub(crate) id: u64,
    /// What is asked.
    pub(crate) method: &'a str,
    /// The parameters, perhaps without what every request carries.
    pub(crate) params: Option<&'a Json>,
    /// The whole message.
    pub(crate) message: Vec<u8>,
    /// How long to wait.
    pub(crate) deadline: Deadline,
    /// Who watches the request while it is worked on.
    pub(crate) observer: Option<Arc<Observer>>,
    /// Headers that mirror parameters; only HTTP sends them.
    pub(crate) headers: &'a [(HeaderName, HeaderValue)],
}

/// A connection without any knowledge of what is said over it; dropped, it ends.
pub(crate) struct Wire {
    pub(crate) core: Arc<Core>,
    pub(crate) link: Link,
    _ends_with_us: DropGuard,
}

impl Wire {
    pub(crate) fn new(core: Arc<Core>, link: Link) -> Self {
        Self { _ends_with_us: core.stop.clone().drop_guard(), core, link }
    }

    /// Ends the session and waits until nothing of it is left.
    pub(crate) async fn close(&self) {
        if let Link::Streamable(http) = &self.link {
            http.say_goodbye().await;
        }
        self.core.stop.cancel();
        self.core.tasks.close();
        self.core.tasks.wait().await;
    }

    /// Returns what the server wrote to its error output lately.
    pub(crate) fn stderr(&self) -> String {
        match &self.link {
            Link::Pipe(pipe) => pipe.stderr(),
            Link::Streamable(_) | Link::EventStream(_) => String::new(),
        }
    }

    /// Sends the request and waits for its answer.
    pub(crate) async fn ask(&self, mut question: Question<'_>) -> Result<Json, RequestError> {
        let (id, deadline) = (question.id, question.deadline);
        let observer = question.observer.take();
        let progress = observer.as_deref().and_then(Observer::progress);
        let message = std::mem::take(&mut question.message);
        let (answer, outstanding) = self
            .core
            .pending
            .enter(id, observer.clone())
            .map_err(|ended| RequestError::Lost { ended, never_sent: true })?;
        let mut ticket = Ticket { wire: self, id, method: question.method, is_open: true };
        let outcome = match &self.link {
            Link::Pipe(pipe) => {
                if let Err(why) = pipe.send(id, message, outstanding) {
                    return Err(self.unsent(why).await);
                }
                limited(awaited(answer), deadline, progress).await
            }
            Link::Streamable(http) => {
                // Making a connection takes a large future; other requests need not carry it along.
                let exchange = Box::pin(http.exchange(&question, message.into(), answer));
                limited(exchange, deadline, progress).await
            }
            Link::EventStream(http) => {
                limited(Box::pin(http.exchange(message, answer)), deadline, progress).await
            }
        };
        match outcome {
            Ok(outcome) => {
                ticket.is_open = false;
                if !matches!(self.link, Link::Pipe(_)) {
                    self.core.pending.leave(id);
                }
                outcome
            }
            Err(limit) => Err(RequestError::TimedOut { limit, never_sent: ticket.give_up() }),
        }
    }

    /// Sends a notification and does not wait for it to be read.
    pub(crate) async fn tell(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(), RequestError> {
        let message = envelope::notification(method, params);
        self.core.note_told();
        match &self.link {
            Link::Pipe(pipe) => pipe.say(message),
            Link::Streamable(http) => http.tell(message).await?,
            Link::EventStream(http) => http.tell(message).await?,
        }
        Ok(())
    }

    async fn unsent(&self, why: Unsent) -> RequestError {
        if why == Unsent::Full {
            return RequestError::Unsendable("the server does not read its input".into());
        }
        // The way in is closed a moment before everybody learns why.
        self.core.over.cancelled().await;
        match self.core.pending.ended() {
            Some(ended) => RequestError::Lost { ended, never_sent: true },
            None => RequestError::Unsendable("the server's input is closed".into()),
        }
    }
}

/// Waits for an answer that arrives through the table of requests.
pub(crate) async fn awaited(answer: oneshot::Receiver<Answer>) -> Result<Json, RequestError> {
    // An entry is removed without an answer only by the one who asks.
    answer.await.map_or(Err(RequestError::Cut), Answer::into_result)
}

/// Runs `work` within its limits; the error is the limit that passed.
pub(crate) async fn limited<T>(
    work: impl Future<Output = T>,
    deadline: Deadline,
    progress: Option<&Progress>,
) -> Result<T, std::time::Duration> {
    if deadline == Deadline::never() {
        return Ok(work.await);
    }
    let mut work = pin!(work);
    let began = Instant::now();
    let end = began.checked_add(deadline.cap);
    let mut last = began;
    loop {
        let idle = last.checked_add(deadline.idle);
        let until = match (idle, end) {
            (Some(idle), Some(end)) => idle.min(end),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Ok(work.await),
        };
        if let Ok(done) = tokio::time::timeout_at(until, work.as_mut()).await {
            return Ok(done);
        }
        let latest = progress.map_or(began, Progress::latest);
        if end.is_some_and(|end| until >= end) {
            return Err(deadline.cap);
        }
        if latest <= last {
            return Err(deadline.idle);
        }
        last = latest;
    }
}

impl Observer {
    fn progress(&self) -> Option<&Progress> {
        match self {
            Self::Progress(progress) => Some(progress),
            Self::Acknowledgement(_) => None,
        }
    }
}

/// Stands for a request that is under way; dropped, it takes the request back.
struct Ticket<'a> {
    wire: &'a Wire,
    id: u64,
    method: &'a str,
    is_open: bool,
}

impl Ticket<'_> {
    /// Takes the request back; `true` if the server provably never got it.
    fn give_up(&mut self) -> bool {
        if !std::mem::take(&mut self.is_open) || !self.wire.core.pending.leave(self.id) {
            return false;
        }
        match &self.wire.link {
            Link::Pipe(pipe) => {
                let never_sent = pipe.take_back(self.id);
                // The first request of a session must not be cancelled.
                if !never_sent && self.method != "initialize" {
                    self.wire.core.note_told();
                    pipe.say(cancellation(self.id));
                }
                never_sent
            }
            Link::Streamable(http) => http.abandon(self.id, self.method),
            Link::EventStream(http) => http.abandon(self.id, self.method),
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Tells a server that nobody waits for an answer any more.
pub(crate) fn cancellation(id: u64) -> Vec<u8> {
    let params = Json::trusted(format!(r#"{{"requestId":{id},"reason":"no longer awaited"}}"#));
    envelope::notification("notifications/cancelled", Some(&params))
}
