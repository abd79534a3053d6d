//! Sends one request and waits for its answer, over whatever transport there is.
//!
//! Dropping the future takes the request back: off the queue if it is still there, else by telling
//! the server. Every wait has a limit; a sign of life from the server starts the idle limit anew, and
//! so does the server's waiting for an answer of ours.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use crate::Json;
use crate::envelope;
use crate::session::{Answer, Core, Observer, Patience, Question, RequestError, cancellation};
use crate::transport::process::StderrTail;
use crate::transport::{Link, PipeLink, Unsent};

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
            // A request of HTTP is large, and every connection would carry the room for it.
            Box::pin(http.say_goodbye()).await;
        }
        self.core.stop.cancel();
        self.core.tasks.close();
        self.core.tasks.wait().await;
    }

    /// Returns what the server wrote to its error output lately.
    pub(crate) fn stderr(&self) -> String {
        self.stderr_tail().map(StderrTail::text).unwrap_or_default()
    }

    /// Returns the error output of the server's process, if it has one here.
    pub(crate) fn stderr_tail(&self) -> Option<&StderrTail> {
        match &self.link {
            Link::Pipe(pipe) => Some(pipe.stderr()),
            Link::Streamable(_) | Link::EventStream(_) => None,
        }
    }

    /// Sends the request and waits for its answer.
    ///
    /// What HTTP needs to carry along is boxed, so that a call over pipes stays small: with many of
    /// them in flight the processor's cache is what limits us.
    pub(crate) fn ask<'a>(
        &'a self,
        question: Question<'a>,
    ) -> impl Future<Output = Result<Json, RequestError>> + Send + 'a {
        match &self.link {
            Link::Pipe(pipe) => Either::Left(self.ask_pipe(pipe, question)),
            Link::Streamable(_) | Link::EventStream(_) => {
                Either::Right(Box::pin(self.ask_http(question)))
            }
        }
    }

    /// Asks over pipes, where the connection keeps the time of all requests.
    async fn ask_pipe(
        &self,
        pipe: &PipeLink,
        question: Question<'_>,
    ) -> Result<Json, RequestError> {
        let Question { id, method, message, deadline, observer, .. } = question;
        let (answer, outstanding) = self
            .core
            .pending
            .enter(id, observer, Patience::begin(deadline))
            .map_err(|ended| RequestError::Lost { ended, never_sent: true })?;
        let mut ticket = Ticket { wire: self, id, method, is_open: true };
        if let Err(why) = pipe.send(id, message, outstanding) {
            return Err(Box::pin(self.unsent(why)).await);
        }
        // An entry is removed without an answer only by the one who asks.
        let answer = answer.await.map_err(|_| RequestError::Cut)?;
        if let Answer::Overdue { limit } = answer {
            return Err(RequestError::TimedOut { limit, never_sent: ticket.give_up() });
        }
        ticket.is_open = false;
        answer.into_result()
    }

    /// Asks over HTTP, where a request is dropped to give it up and so keeps its own time.
    async fn ask_http(&self, mut question: Question<'_>) -> Result<Json, RequestError> {
        let id = question.id;
        let patience = Patience::begin(question.deadline);
        let observer = std::mem::replace(&mut question.observer, Observer::Nobody);
        let message = std::mem::take(&mut question.message);
        let (answer, _) = self
            .core
            .pending
            .enter(id, observer, None)
            .map_err(|ended| RequestError::Lost { ended, never_sent: true })?;
        let mut ticket = Ticket { wire: self, id, method: question.method, is_open: true };
        let sign = || self.core.pending.sign(id).max(self.core.last_question());
        let outcome = match &self.link {
            Link::Pipe(_) => return Err(RequestError::Cut),
            Link::Streamable(http) => {
                let exchange = http.exchange(&question, message.into(), answer);
                limited(exchange, patience, sign).await
            }
            Link::EventStream(http) => {
                limited(http.exchange(question.method, message, answer), patience, sign).await
            }
        };
        match outcome {
            Ok(outcome) => {
                ticket.is_open = false;
                self.core.pending.leave(id);
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

/// Runs `work` within its limits; the error is the limit that passed. `sign` is the last of life.
async fn limited<T>(
    work: impl Future<Output = T>,
    patience: Option<Patience>,
    sign: impl Fn() -> Option<Instant>,
) -> Result<T, Duration> {
    let Some(mut patience) = patience else { return Ok(work.await) };
    let mut work = pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout_at(patience.until(), work.as_mut()).await {
            return Ok(done);
        }
        patience.renew(sign())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Deadline;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn while_the_server_waits_for_us_only_the_cap_counts() {
        let check = async |asked: Duration, expected: Duration| {
            let began = Instant::now();
            let patience = Patience::begin(Deadline { idle: 2 * SECOND, cap: 9 * SECOND });
            let sign = || Some(Instant::now().min(began + asked));
            limited(std::future::pending::<()>(), patience, sign).await.unwrap_err();
            assert_eq!(began.elapsed().as_secs(), expected.as_secs());
        };
        check(Duration::ZERO, 2 * SECOND).await;
        check(5 * SECOND, 7 * SECOND).await;
        check(99 * SECOND, 9 * SECOND).await;
    }
}
