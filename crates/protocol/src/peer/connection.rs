//! Sends one request over any transport and waits for its response.
//!
//! Cancellation: dropping the future cancels the request. It is removed from the queue if it is
//! still there, else the server gets `notifications/cancelled`. Every wait has a deadline; progress
//! from the server restarts its idle timeout, and so does an open request of the server.

use std::future::Future;
#[cfg(feature = "http")]
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(feature = "http")]
use std::time::Duration;

#[cfg(feature = "http")]
use futures_util::future::Either;
#[cfg(feature = "http")]
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use crate::Json;
use crate::envelope;
#[cfg(feature = "http")]
use crate::session::Observer;
use crate::session::{
    ClientRequest, DeadlineTimer, RequestError, RequestOutcome, SessionCore, cancel_notification,
};
use crate::transport::process::StderrTail;
use crate::transport::{ClientTransport, LineTransport, WriteError};

/// A session and its transport; it does not know what the requests mean. Dropping it ends the
/// session.
pub(crate) struct ClientConnection {
    pub(crate) core: Arc<SessionCore>,
    pub(crate) transport: ClientTransport,
    /// How many callers wait for a response, or have one that they have not taken yet.
    callers: AtomicUsize,
    _stop_on_drop: DropGuard,
}

impl ClientConnection {
    pub(crate) fn new(core: Arc<SessionCore>, transport: ClientTransport) -> Self {
        let stop_on_drop = core.stop.clone().drop_guard();
        Self { core, transport, callers: AtomicUsize::new(0), _stop_on_drop: stop_on_drop }
    }

    /// Ends the session and waits until all its tasks and processes have ended.
    pub(crate) async fn close(&self) {
        #[cfg(feature = "http")]
        if let ClientTransport::StreamableHttp(http) = &self.transport {
            // The future of an HTTP request is large, and this future would contain it.
            Box::pin(http.delete_session()).await;
        }
        self.core.stop.cancel();
        self.core.tasks.close();
        self.core.tasks.wait().await;
    }

    /// Returns the last part of the server's stderr.
    pub(crate) fn stderr(&self) -> String {
        self.stderr_tail().map(StderrTail::text).unwrap_or_default()
    }

    /// Returns the stderr of the server's process; `None` if Wharf did not start it.
    pub(crate) fn stderr_tail(&self) -> Option<&StderrTail> {
        match &self.transport {
            ClientTransport::Lines(lines) => lines.stderr(),
            #[cfg(feature = "http")]
            ClientTransport::StreamableHttp(_) | ClientTransport::HttpSse(_) => None,
        }
    }

    /// Sends a request and waits for its response.
    ///
    /// The HTTP future is boxed, so that the future of a call over lines stays small: with many
    /// concurrent calls, the CPU cache is the limit.
    #[cfg(feature = "http")]
    pub(crate) fn send_request<'a>(
        &'a self,
        request: ClientRequest<'a>,
    ) -> impl Future<Output = Result<Json, RequestError>> + Send + 'a {
        match &self.transport {
            ClientTransport::Lines(lines) => Either::Left(self.request_over_lines(lines, request)),
            ClientTransport::StreamableHttp(_) | ClientTransport::HttpSse(_) => {
                Either::Right(Box::pin(self.request_over_http(request)))
            }
        }
    }

    /// Sends a request and waits for its response.
    #[cfg(not(feature = "http"))]
    pub(crate) fn send_request<'a>(
        &'a self,
        request: ClientRequest<'a>,
    ) -> impl Future<Output = Result<Json, RequestError>> + Send + 'a {
        let ClientTransport::Lines(lines) = &self.transport;
        self.request_over_lines(lines, request)
    }

    /// Sends a request as a line; the session checks the deadlines of all requests.
    async fn request_over_lines(
        &self,
        lines: &LineTransport,
        request: ClientRequest<'_>,
    ) -> Result<Json, RequestError> {
        let ClientRequest { id, method, message, deadline, observer, cause, .. } = request;
        let answer = self
            .core
            .pending
            .insert(id, observer, DeadlineTimer::start(deadline))
            .map_err(|ended| RequestError::Lost { ended, never_sent: true })?;
        if let Some(cause) = cause {
            self.core.pending.set_cause(id, cause);
        }
        let mut open_request = OpenRequest::new(self, id, method);
        if let Err(why) = lines.send(id, message, open_request.callers) {
            return Err(Box::pin(self.request_error(why)).await);
        }
        // Only the caller itself removes an entry without an outcome.
        let answer = answer.await.map_err(|_| RequestError::StreamEnded)?;
        if let RequestOutcome::TimedOut { limit } = answer {
            return Err(RequestError::TimedOut { limit, never_sent: open_request.cancel() });
        }
        open_request.is_open = false;
        answer.into_result()
    }

    /// Sends a request over HTTP; it is cancelled by dropping its future, so it has its own timer.
    #[cfg(feature = "http")]
    async fn request_over_http(
        &self,
        mut request: ClientRequest<'_>,
    ) -> Result<Json, RequestError> {
        let id = request.id;
        let timer = DeadlineTimer::start(request.deadline);
        let observer = std::mem::replace(&mut request.observer, Observer::None);
        let message = std::mem::take(&mut request.message);
        let answer = self
            .core
            .pending
            .insert(id, observer, None)
            .map_err(|ended| RequestError::Lost { ended, never_sent: true })?;
        if let Some(cause) = request.cause.take() {
            self.core.pending.set_cause(id, cause);
        }
        let mut open_request = OpenRequest::new(self, id, request.method);
        let last_activity =
            || self.core.pending.last_activity(id).max(self.core.last_server_request());
        let outcome = match &self.transport {
            ClientTransport::Lines(_) => return Err(RequestError::StreamEnded),
            ClientTransport::StreamableHttp(http) => {
                let exchange = http.exchange(&request, message.into(), answer);
                with_deadline(exchange, timer, last_activity).await
            }
            ClientTransport::HttpSse(http) => {
                with_deadline(http.exchange(request.method, message, answer), timer, last_activity)
                    .await
            }
        };
        match outcome {
            Ok(outcome) => {
                open_request.is_open = false;
                self.core.pending.remove(id);
                outcome
            }
            Err(limit) => Err(RequestError::TimedOut { limit, never_sent: open_request.cancel() }),
        }
    }

    /// Sends a notification.
    #[cfg_attr(not(feature = "http"), expect(clippy::unused_async, reason = "HTTP waits"))]
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(), RequestError> {
        let message = envelope::notification(method, params);
        self.core.count_notification();
        match &self.transport {
            ClientTransport::Lines(lines) => lines.send_message(message),
            #[cfg(feature = "http")]
            ClientTransport::StreamableHttp(http) => http.notify(message).await?,
            #[cfg(feature = "http")]
            ClientTransport::HttpSse(http) => http.notify(message).await?,
        }
        Ok(())
    }

    async fn request_error(&self, why: WriteError) -> RequestError {
        if why == WriteError::Full {
            return RequestError::Unsendable("the server does not read its input".into());
        }
        // The writer is closed a moment before the reason is known.
        self.core.ended.cancelled().await;
        match self.core.pending.ended() {
            Some(ended) => RequestError::Lost { ended, never_sent: true },
            None => RequestError::Unsendable("the server's input is closed".into()),
        }
    }
}

/// Runs `work` with a deadline; the error is the limit that was reached. `last_activity` returns
/// the time of the last activity.
#[cfg(feature = "http")]
async fn with_deadline<T>(
    work: impl Future<Output = T>,
    timer: Option<DeadlineTimer>,
    last_activity: impl Fn() -> Option<Instant>,
) -> Result<T, Duration> {
    let Some(mut timer) = timer else { return Ok(work.await) };
    let mut work = pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout_at(timer.next_check(), work.as_mut()).await {
            return Ok(done);
        }
        timer.extend(last_activity())?;
    }
}

/// A pending request; dropping it cancels the request.
struct OpenRequest<'a> {
    connection: &'a ClientConnection,
    id: u64,
    method: &'a str,
    is_open: bool,
    /// How many callers the connection had when this request began, with this one.
    callers: usize,
}

impl<'a> OpenRequest<'a> {
    fn new(connection: &'a ClientConnection, id: u64, method: &'a str) -> Self {
        let callers = connection.callers.fetch_add(1, Ordering::Relaxed) + 1;
        Self { connection, id, method, is_open: true, callers }
    }

    /// Cancels the request; `true` if it was certainly never sent.
    fn cancel(&mut self) -> bool {
        if !std::mem::take(&mut self.is_open) || !self.connection.core.pending.cancel(self.id) {
            return false;
        }
        let never_sent = self.withdraw();
        if never_sent {
            self.connection.core.pending.forget_cancelled(self.id);
        }
        never_sent
    }

    /// Takes the request out of the queue, or tells the server that it is cancelled.
    fn withdraw(&self) -> bool {
        match &self.connection.transport {
            ClientTransport::Lines(lines) => {
                let never_sent = lines.cancel_unwritten(self.id);
                // The specification forbids to cancel `initialize`.
                if !never_sent && self.method != "initialize" {
                    self.connection.core.count_notification();
                    lines.send_message(cancel_notification(self.id));
                }
                never_sent
            }
            #[cfg(feature = "http")]
            ClientTransport::StreamableHttp(http) => http.cancel(self.id, self.method),
            #[cfg(feature = "http")]
            ClientTransport::HttpSse(http) => http.cancel(self.id, self.method),
        }
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.connection.callers.fetch_sub(1, Ordering::Relaxed);
        self.cancel();
    }
}

#[cfg(test)]
#[cfg(feature = "http")]
mod tests {
    use super::*;
    use crate::session::Deadline;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn only_the_cap_counts_while_the_server_waits_for_the_client() {
        let check = async |asked: Duration, expected: Duration| {
            let began = Instant::now();
            let timer = DeadlineTimer::start(Deadline { idle: 2 * SECOND, cap: 9 * SECOND });
            let last_activity = || Some(Instant::now().min(began + asked));
            with_deadline(std::future::pending::<()>(), timer, last_activity).await.unwrap_err();
            assert_eq!(began.elapsed().as_secs(), expected.as_secs());
        };
        check(Duration::ZERO, 2 * SECOND).await;
        check(5 * SECOND, 7 * SECOND).await;
        check(99 * SECOND, 9 * SECOND).await;
    }
}
