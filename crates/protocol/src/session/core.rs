//! What the transports of a connection share: the table of requests and the routing of messages.
//!
//! Transports hand everything they read to [`Core::take`]; answers find the one who waits,
//! questions of the server become tasks, everything else goes to the handler.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::inbound::Inbound;
use super::pending::{Answer, Heard, Pending};
use super::warning::{Warning, Warnings};
use super::{EndReason, Ended, Handler, Limits, RequestError, TraceEvent, Tracer};
use crate::envelope::{
    self, Id, Message, Notification, Received, Request, Response, RpcError, code,
};
use crate::view::meta::key;
use crate::{Json, scan};

/// Says something to the server without waiting for anything.
pub(crate) trait Speaker: Send + Sync + 'static {
    /// Sends one message as soon as possible; a session that is over swallows it.
    fn say(self: Arc<Self>, message: Vec<u8>);
}

/// The state of one connection that does not depend on its transport.
pub(crate) struct Core {
    pub(crate) pending: Pending,
    pub(crate) warnings: Warnings,
    pub(crate) limits: Limits,
    /// Everything that runs for this connection; awaited when it is closed.
    pub(crate) tasks: TaskTracker,
    /// Cancelled to end the connection.
    pub(crate) stop: CancellationToken,
    /// Cancelled once the session is over.
    pub(crate) over: CancellationToken,
    handler: Arc<dyn Handler>,
    ids: AtomicU64,
    /// Notifications that the server has not complained about.
    told: AtomicU64,
    is_modern: AtomicBool,
    /// Whether the server has sent any message at all.
    has_spoken: AtomicBool,
    inbound: Inbound,
    /// How many more messages without an answer may be on their way over HTTP.
    errands: Arc<Semaphore>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
}

/// How many messages without an answer may be on their way over HTTP at once. More are wanted only
/// by a server that asks faster than it takes answers, and those are dropped.
const ERRANDS: usize = 256;

impl Core {
    #[cfg(test)]
    pub(crate) fn new(handler: Arc<dyn Handler>, limits: Limits, tasks: TaskTracker) -> Arc<Self> {
        Self::traced(handler, limits, tasks, None)
    }

    /// Makes the state of a connection that somebody may watch.
    pub(crate) fn traced(
        handler: Arc<dyn Handler>,
        limits: Limits,
        tasks: TaskTracker,
        tracer: Option<Arc<dyn Tracer>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            pending: Pending::default(),
            warnings: Warnings::default(),
            limits,
            tasks,
            stop: CancellationToken::new(),
            over: CancellationToken::new(),
            handler,
            ids: AtomicU64::new(1),
            told: AtomicU64::new(0),
            is_modern: AtomicBool::new(false),
            has_spoken: AtomicBool::new(false),
            inbound: Inbound::default(),
            errands: Arc::new(Semaphore::new(ERRANDS)),
            tracer,
        })
    }

    /// Returns an id that was never used on this connection.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that the server is of the modern era, which has no requests of servers.
    pub(crate) fn set_modern(&self) {
        self.is_modern.store(true, Ordering::Relaxed);
    }

    /// Tells whether the server has written something, and not one message among it.
    pub(crate) fn heard_only_junk(&self) -> bool {
        !self.has_spoken.load(Ordering::Relaxed) && self.warnings.has(&Warning::JunkOutput)
    }

    /// Runs a task of this connection. If it panics, the session ends: everybody who waits for the
    /// server learns so, and nobody else is touched.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let guard = EndOnPanic(Arc::clone(self));
        self.tasks.spawn(async move {
            let _guard = guard;
            task.await;
        });
    }

    /// Ends the session: everybody who waits learns why.
    pub(crate) fn end(&self, ended: Ended, unsent: &[u64]) {
        self.pending.end(&Arc::new(ended), unsent);
        self.over.cancel();
        self.inbound.end();
    }

    /// Returns when the server last waited for us, if it ever did.
    pub(crate) fn last_question(&self) -> Option<Instant> {
        self.inbound.latest()
    }

    /// Tells the handler that a new session has replaced one that the server forgot.
    ///
    /// Whatever was listed may be different now, so it is announced as changed.
    pub(crate) fn renewed(&self) {
        for kind in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{kind}/list_changed").into();
            self.handler.notified(Notification { method, params: None });
        }
        self.handler.renewed();
    }

    /// Sends something over HTTP that has no answer, unless too much is on its way already.
    pub(crate) fn send_apart(
        self: &Arc<Self>,
        sending: impl Future<Output = Result<(), RequestError>> + Send + 'static,
    ) {
        let Ok(permit) = Arc::clone(&self.errands).try_acquire_owned() else {
            self.warnings.add(Warning::Odd("asks faster than it takes answers".into()));
            return;
        };
        let core = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                () = core.over.cancelled() => {}
                outcome = sending => if let Err(error) = outcome {
                    // The error may have words of the server.
                    let never_sent = error.never_sent();
                    tracing::debug!(never_sent, "the server did not take a message");
                }
            }
            drop(permit);
        });
    }

    /// Notes that a notification is on its way.
    pub(crate) fn note_told(&self) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads and routes one text of the server; `false` if it is no message.
    pub(crate) fn take<S: Speaker>(self: &Arc<Self>, text: &Bytes, speaker: &Arc<S>) -> bool {
        let received = self.read(text);
        let is_message = received.is_some();
        if let Some(received) = received {
            self.receive(received, speaker);
        }
        is_message
    }

    /// Reads one text of the server, and takes note of what is wrong with it.
    pub(crate) fn read(&self, text: &Bytes) -> Option<Received> {
        self.trace(TraceEvent::Received(text));
        let mut flaws = Vec::new();
        let Ok(received) = envelope::read_leniently(text, &mut flaws) else {
            self.warnings.add(Warning::JunkOutput);
            return None;
        };
        for flaw in flaws {
            self.warnings.add(Warning::Flawed(flaw));
        }
        self.has_spoken.store(true, Ordering::Relaxed);
        Some(received)
    }

    /// Shows something to whoever watches.
    pub(crate) fn trace(&self, event: TraceEvent<'_>) {
        if let Some(tracer) = &self.tracer {
            tracer.record(event);
        }
    }

    /// Routes what a transport read.
    pub(crate) fn receive<S: Speaker>(self: &Arc<Self>, received: Received, speaker: &Arc<S>) {
        match received {
            Received::One(message) => self.route(message, speaker),
            Received::Many { messages, malformed } => {
                if malformed > 0 {
                    self.warnings.add(Warning::JunkOutput);
                }
                for message in messages {
                    self.route(message, speaker);
                }
            }
        }
    }

    fn route<S: Speaker>(self: &Arc<Self>, message: Message, speaker: &Arc<S>) {
        match message {
            Message::Response(response) => self.answered(response),
            Message::Notification(notification) => self.notified(notification),
            Message::Request(request) => self.asked(request, speaker),
        }
    }

    fn answered(&self, response: Response) {
        let Some(id) = response.id.as_ref().and_then(Id::as_ours) else {
            // A server that could not read our id, or forgot it: clear only if one request waits.
            self.warnings.add(Warning::MissingId);
            let asker = match &response.outcome {
                Err(error) if self.is_about_a_notification(error) => None,
                Err(_) => self.pending.oldest(),
                Ok(_) => self.pending.only(),
            };
            if let Some(id) = asker.filter(|_| response.id.is_none()) {
                let answer = match response.outcome {
                    Ok(result) => Answer::Outcome(Ok(result)),
                    Err(error) => Answer::Unidentified(error),
                };
                self.pending.answer(id, answer);
            }
            return;
        };
        let was_awaited = self.pending.answer(id, Answer::Outcome(response.outcome));
        // An answer to a request that was given up is late, not wrong.
        if !was_awaited && id >= self.ids.load(Ordering::Relaxed) {
            self.warnings.add(Warning::StrayAnswer);
        }
    }

    /// Tells whether an error without an id is the answer to a notification, which has none.
    ///
    /// Each notification explains one such error. Other codes are about what could not be read.
    fn is_about_a_notification(&self, error: &RpcError) -> bool {
        let less = |told: u64| told.checked_sub(1);
        matches!(error.code, code::METHOD_NOT_FOUND | code::INVALID_PARAMS)
            && self.told.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn notified(&self, notification: Notification) {
        let params = notification.params.as_ref();
        match notification.method.as_ref() {
            "notifications/progress" => {
                if let Some(params) = params {
                    self.progressed(params);
                }
            }
            "notifications/cancelled" => {
                if let Some(params) = params {
                    self.cancelled(params);
                }
            }
            "notifications/subscriptions/acknowledged" => {
                if let Some(params) = params {
                    self.acknowledged(params);
                }
            }
            _ => self.handler.notified(notification),
        }
    }

    fn progressed(&self, params: &Json) {
        let Some(id) = id_at(params, "progressToken").and_then(|id| id.as_ours()) else { return };
        self.pending.progressed(id, params);
    }

    fn acknowledged(&self, params: &Json) {
        let subscription = params.get("_meta").and_then(|meta| id_at(&meta, key::SUBSCRIPTION_ID));
        let Some(id) = subscription.and_then(|id| id.as_ours()) else { return };
        if let Some(waiting) = self.pending.subscriber(id) {
            // Who waits for both hears of them in any order, so it is decided here.
            let is_last = self.ids.load(Ordering::Relaxed) == id + 1;
            let is_ahead = is_last || self.pending.is_open(id + 1);
            // The subscriber may have gone; then the answer will end this entry.
            drop(waiting.send(Heard { params: params.clone(), is_ahead }));
        }
    }

    /// A server takes back its own question, or tears down a subscription of ours.
    fn cancelled(&self, params: &Json) {
        let Some(id) = id_at(params, "requestId") else { return };
        if let Some(token) = self.inbound.leave(&id) {
            token.cancel();
            return;
        }
        if let Some(ours) = id.as_ours().filter(|id| self.pending.is_subscription(*id)) {
            self.pending.answer(ours, Answer::Outcome(Ok(Json::object())));
        }
    }

    fn asked<S: Speaker>(self: &Arc<Self>, request: Request, speaker: &Arc<S>) {
        if self.is_modern.load(Ordering::Relaxed) {
            // A modern server must not ask, and must not be answered.
            self.warnings.add(Warning::UnexpectedRequest);
            return;
        }
        let Request { id, method, params } = request;
        if method == "ping" {
            Arc::clone(speaker).say(envelope::success(&id, &Json::object()));
            return;
        }
        let Some(token) = self.inbound.enter(id.clone(), self.limits.inbound) else {
            let busy = RpcError::new(code::INTERNAL, "Too many requests at once");
            Arc::clone(speaker).say(envelope::failure(Some(&id), &busy));
            return;
        };
        let reply = self.ask_handler(&method, params);
        let (core, speaker) = (Arc::clone(self), Arc::clone(speaker));
        self.tasks.spawn(async move {
            let outcome = tokio::select! {
                () = token.cancelled() => return,
                // A question that comes while the session ends is too late to be cancelled with
                // the others.
                () = core.over.cancelled() => return,
                outcome = reply => outcome,
            };
            core.inbound.leave(&id);
            speaker.say(match &outcome {
                Ok(result) => envelope::success(&id, result),
                Err(error) => envelope::failure(Some(&id), error),
            });
        });
    }

    /// Asks the handler; one that panics costs its answer, neither the session nor the caller.
    pub(crate) fn ask_handler(
        &self,
        method: &str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send + use<> {
        // Nothing of the handler's is looked at after a panic but that there was one.
        let asked = catch_unwind(AssertUnwindSafe(|| self.handler.asked(method, params)));
        async move {
            let failed = || RpcError::new(code::INTERNAL, "the client failed to answer");
            let reply = AssertUnwindSafe(asked.map_err(|_| failed())?);
            reply.catch_unwind().await.unwrap_or_else(|_| Err(failed()))
        }
    }
}

/// Ends a session whose task panics.
struct EndOnPanic(Arc<Core>);

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Ended { reason: EndReason::Panicked, stderr: String::new() }, &[]);
        }
    }
}

fn id_at(object: &Json, key: &str) -> Option<Id> {
    Id::from_json(scan::member(object.as_str(), key)?)
}

#[cfg(test)]
mod tests {
    use super::super::NoHandler;
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_ends_its_session() {
        let core = Core::new(Arc::new(NoHandler), Limits::default(), TaskTracker::new());
        core.spawn(async {});
        tokio::task::yield_now().await;
        assert!(core.pending.ended().is_none());
        core.spawn(async { panic!("on purpose") });
        core.over.cancelled().await;
        let ended = core.pending.ended().unwrap();
        assert_eq!(ended.to_string(), "its connection failed inside Wharf");
    }
}
