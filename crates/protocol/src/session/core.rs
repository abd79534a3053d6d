//! What the transports of a connection share: the table of requests and the routing of messages.
//!
//! Transports hand everything they read to [`SessionCore::handle_text`]; answers find the one who
//! waits, questions of the server become tasks, everything else goes to the handler.

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

use super::pending_requests::{PendingRequests, RequestOutcome, SubscriptionAck};
use super::server_requests::ServerRequests;
use super::warning::{Warning, Warnings};
use super::{
    ClientHandler, EndReason, RequestError, SessionEnd, SessionLimits, TraceEvent, Tracer,
};
use crate::envelope::{
    self, Id, Message, Notification, Received, Request, Response, RpcError, code,
};
use crate::view::meta::key;
use crate::{Json, scan};

/// Says something to the server without waiting for anything.
pub(crate) trait MessageSender: Send + Sync + 'static {
    /// Sends one message as soon as possible; a session that is over swallows it.
    fn send_message(self: Arc<Self>, message: Vec<u8>);
}

/// The state of one connection that does not depend on its transport.
pub(crate) struct SessionCore {
    pub(crate) pending: PendingRequests,
    pub(crate) warnings: Warnings,
    pub(crate) limits: SessionLimits,
    /// Everything that runs for this connection; awaited when it is closed.
    pub(crate) tasks: TaskTracker,
    /// Cancelled to end the connection.
    pub(crate) stop: CancellationToken,
    /// Cancelled once the session is over.
    pub(crate) ended: CancellationToken,
    handler: Arc<dyn ClientHandler>,
    ids: AtomicU64,
    /// Notifications that the server has not complained about.
    unanswered_notifications: AtomicU64,
    is_modern: AtomicBool,
    /// Whether the server has sent any message at all.
    has_sent_message: AtomicBool,
    server_requests: ServerRequests,
    /// How many more messages without an answer may be on their way over HTTP.
    background_sends: Arc<Semaphore>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
}

/// How many messages without an answer may be on their way over HTTP at once. More are wanted only
/// by a server that asks faster than it takes answers, and those are dropped.
const MAX_BACKGROUND_SENDS: usize = 256;

impl SessionCore {
    #[cfg(test)]
    pub(crate) fn new(
        handler: Arc<dyn ClientHandler>,
        limits: SessionLimits,
        tasks: TaskTracker,
    ) -> Arc<Self> {
        Self::with_tracer(handler, limits, tasks, None)
    }

    /// Makes the state of a connection that somebody may watch.
    pub(crate) fn with_tracer(
        handler: Arc<dyn ClientHandler>,
        limits: SessionLimits,
        tasks: TaskTracker,
        tracer: Option<Arc<dyn Tracer>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            pending: PendingRequests::default(),
            warnings: Warnings::default(),
            limits,
            tasks,
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            handler,
            ids: AtomicU64::new(1),
            unanswered_notifications: AtomicU64::new(0),
            is_modern: AtomicBool::new(false),
            has_sent_message: AtomicBool::new(false),
            server_requests: ServerRequests::default(),
            background_sends: Arc::new(Semaphore::new(MAX_BACKGROUND_SENDS)),
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
    pub(crate) fn received_only_junk(&self) -> bool {
        !self.has_sent_message.load(Ordering::Relaxed) && self.warnings.has(&Warning::JunkOutput)
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
    pub(crate) fn end(&self, ended: SessionEnd, unsent: &[u64]) {
        self.pending.end(&Arc::new(ended), unsent);
        self.ended.cancel();
        self.server_requests.end();
    }

    /// Returns when the server last waited for us, if it ever did.
    pub(crate) fn last_server_request(&self) -> Option<Instant> {
        self.server_requests.last_activity()
    }

    /// Tells the handler that a new session has replaced one that the server forgot.
    ///
    /// Whatever was listed may be different now, so it is announced as changed.
    pub(crate) fn announce_new_session(&self) {
        for kind in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{kind}/list_changed").into();
            self.handler.on_notification(Notification { method, params: None });
        }
        self.handler.on_session_renewed();
    }

    /// Sends something over HTTP that has no answer, unless too much is on its way already.
    pub(crate) fn send_in_background(
        self: &Arc<Self>,
        sending: impl Future<Output = Result<(), RequestError>> + Send + 'static,
    ) {
        let Ok(permit) = Arc::clone(&self.background_sends).try_acquire_owned() else {
            self.warnings.add(Warning::Other("asks faster than it takes answers".into()));
            return;
        };
        let core = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                () = core.ended.cancelled() => {}
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
    pub(crate) fn count_notification(&self) {
        self.unanswered_notifications.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads and routes one text of the server; `false` if it is no message.
    pub(crate) fn handle_text<S: MessageSender>(
        self: &Arc<Self>,
        text: &Bytes,
        sender: &Arc<S>,
    ) -> bool {
        let received = self.read(text);
        let is_message = received.is_some();
        if let Some(received) = received {
            self.receive(received, sender);
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
        self.has_sent_message.store(true, Ordering::Relaxed);
        Some(received)
    }

    /// Shows something to whoever watches.
    pub(crate) fn trace(&self, event: TraceEvent<'_>) {
        if let Some(tracer) = &self.tracer {
            tracer.record(event);
        }
    }

    /// Routes what a transport read.
    pub(crate) fn receive<S: MessageSender>(self: &Arc<Self>, received: Received, sender: &Arc<S>) {
        match received {
            Received::One(message) => self.route(message, sender),
            Received::Many { messages, malformed } => {
                if malformed > 0 {
                    self.warnings.add(Warning::JunkOutput);
                }
                for message in messages {
                    self.route(message, sender);
                }
            }
        }
    }

    fn route<S: MessageSender>(self: &Arc<Self>, message: Message, sender: &Arc<S>) {
        match message {
            Message::Response(response) => self.handle_response(response),
            Message::Notification(notification) => self.handle_notification(notification),
            Message::Request(request) => self.handle_request(request, sender),
        }
    }

    fn handle_response(&self, response: Response) {
        let Some(id) = response.id.as_ref().and_then(Id::as_sent_number) else {
            // A server that could not read our id, or forgot it: clear only if one request waits.
            self.warnings.add(Warning::MissingId);
            let asker = match &response.outcome {
                Err(error) if self.is_about_a_notification(error) => None,
                Err(_) => self.pending.oldest(),
                Ok(_) => self.pending.single(),
            };
            if let Some(id) = asker.filter(|_| response.id.is_none()) {
                let answer = match response.outcome {
                    Ok(result) => RequestOutcome::Response(Ok(result)),
                    Err(error) => RequestOutcome::Unidentified(error),
                };
                self.pending.complete(id, answer);
            }
            return;
        };
        let was_awaited = self.pending.complete(id, RequestOutcome::Response(response.outcome));
        // An answer to a request that was given up is late, not wrong.
        if !was_awaited && id >= self.ids.load(Ordering::Relaxed) {
            self.warnings.add(Warning::UnknownId);
        }
    }

    /// Tells whether an error without an id is the answer to a notification, which has none.
    ///
    /// Each notification explains one such error. Other codes are about what could not be read.
    fn is_about_a_notification(&self, error: &RpcError) -> bool {
        let less = |unanswered_notifications: u64| unanswered_notifications.checked_sub(1);
        matches!(error.code, code::METHOD_NOT_FOUND | code::INVALID_PARAMS)
            && self
                .unanswered_notifications
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
    }

    fn handle_notification(&self, notification: Notification) {
        let params = notification.params.as_ref();
        match notification.method.as_ref() {
            "notifications/progress" => {
                if let Some(params) = params {
                    self.handle_progress(params);
                }
            }
            "notifications/cancelled" => {
                if let Some(params) = params {
                    self.handle_cancellation(params);
                }
            }
            "notifications/subscriptions/acknowledged" => {
                if let Some(params) = params {
                    self.handle_acknowledgement(params);
                }
            }
            _ => self.handler.on_notification(notification),
        }
    }

    fn handle_progress(&self, params: &Json) {
        let Some(id) = id_at(params, "progressToken").and_then(|id| id.as_sent_number()) else {
            return;
        };
        self.pending.note_progress(id, params);
    }

    fn handle_acknowledgement(&self, params: &Json) {
        let subscription = params.get("_meta").and_then(|meta| id_at(&meta, key::SUBSCRIPTION_ID));
        let Some(id) = subscription.and_then(|id| id.as_sent_number()) else { return };
        if let Some(waiting) = self.pending.take_subscriber(id) {
            // Who waits for both hears of them in any order, so it is decided here.
            let is_last = self.ids.load(Ordering::Relaxed) == id + 1;
            let is_before_next_response = is_last || self.pending.is_open(id + 1);
            // The subscriber may have gone; then the answer will end this entry.
            drop(waiting.send(SubscriptionAck { params: params.clone(), is_before_next_response }));
        }
    }

    /// A server takes back its own question, or tears down a subscription of ours.
    fn handle_cancellation(&self, params: &Json) {
        let Some(id) = id_at(params, "requestId") else { return };
        if let Some(token) = self.server_requests.remove(&id) {
            token.cancel();
            return;
        }
        if let Some(ours) = id.as_sent_number().filter(|id| self.pending.is_subscription(*id)) {
            self.pending.complete(ours, RequestOutcome::Response(Ok(Json::object())));
        }
    }

    fn handle_request<S: MessageSender>(self: &Arc<Self>, request: Request, sender: &Arc<S>) {
        if self.is_modern.load(Ordering::Relaxed) {
            // A modern server must not ask, and must not be answered.
            self.warnings.add(Warning::UnexpectedRequest);
            return;
        }
        let Request { id, method, params } = request;
        if method == "ping" {
            Arc::clone(sender).send_message(envelope::success(&id, &Json::object()));
            return;
        }
        let Some(token) = self.server_requests.insert(id.clone(), self.limits.server_requests)
        else {
            let busy = RpcError::new(code::INTERNAL, "Too many requests at once");
            Arc::clone(sender).send_message(envelope::failure(Some(&id), &busy));
            return;
        };
        let reply = self.call_handler(&method, params);
        let (core, sender) = (Arc::clone(self), Arc::clone(sender));
        self.tasks.spawn(async move {
            let outcome = tokio::select! {
                () = token.cancelled() => return,
                // A question that comes while the session ends is too late to be cancelled with
                // the others.
                () = core.ended.cancelled() => return,
                outcome = reply => outcome,
            };
            core.server_requests.remove(&id);
            sender.send_message(match &outcome {
                Ok(result) => envelope::success(&id, result),
                Err(error) => envelope::failure(Some(&id), error),
            });
        });
    }

    /// Asks the handler; one that panics costs its answer, neither the session nor the caller.
    pub(crate) fn call_handler(
        &self,
        method: &str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send + use<> {
        // Nothing of the handler's is looked at after a panic but that there was one.
        let asked = catch_unwind(AssertUnwindSafe(|| self.handler.on_request(method, params)));
        async move {
            let failed = || RpcError::new(code::INTERNAL, "the client failed to answer");
            let reply = AssertUnwindSafe(asked.map_err(|_| failed())?);
            reply.catch_unwind().await.unwrap_or_else(|_| Err(failed()))
        }
    }
}

/// Ends a session whose task panics.
struct EndOnPanic(Arc<SessionCore>);

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(SessionEnd { reason: EndReason::Panicked, stderr: String::new() }, &[]);
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
    async fn a_panicking_task_ends_its_session() {
        let core =
            SessionCore::new(Arc::new(NoHandler), SessionLimits::default(), TaskTracker::new());
        core.spawn(async {});
        tokio::task::yield_now().await;
        assert!(core.pending.ended().is_none());
        core.spawn(async { panic!("on purpose") });
        core.ended.cancelled().await;
        let ended = core.pending.ended().unwrap();
        assert_eq!(ended.to_string(), "its connection failed inside Wharf");
    }
}
