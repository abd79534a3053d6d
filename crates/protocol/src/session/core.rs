//! Routes the messages that a transport reads, and keeps the state that all transports share.
//!
//! A transport passes each text to [`SessionCore::handle_text`]. A response completes its pending
//! request, a request of the server is handled in a task by the handler, and a notification goes
//! to the handler.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
#[cfg(feature = "http")]
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::pending_requests::{PendingRequests, RequestOutcome, SubscriptionAck};
use super::server_requests::ServerRequests;
use super::violation::{SessionViolation, SessionViolations};
use super::{
    ClientHandler, EndReason, RequestCause, SessionEnd, SessionLimits, TraceEvent, Tracer,
    callbacks,
};
use crate::envelope::{
    self, Id, Message, Notification, Received, Request, Response, RpcError, code,
};
use crate::view::meta::key;
use crate::{Json, scan};

/// Sends messages to the server without waiting.
pub(crate) trait MessageSender: Send + Sync + 'static {
    /// Sends one message as soon as possible; drops it if the session has ended.
    fn send_message(self: Arc<Self>, message: Vec<u8>);
}

/// How a message of the server arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrival {
    /// On a stream that all requests share.
    Shared,
    /// On the stream of the response to one request.
    #[cfg(any(feature = "http", test))]
    ResponseTo(u64),
}

/// The state of one connection, independent of its transport.
pub(crate) struct SessionCore {
    pub(crate) pending: PendingRequests,
    pub(crate) violations: SessionViolations,
    pub(crate) limits: SessionLimits,
    /// All tasks of this connection; closing the connection waits for them.
    pub(crate) tasks: TaskTracker,
    /// Cancelled to end the connection.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the session has ended.
    pub(crate) ended: CancellationToken,
    handler: Arc<dyn ClientHandler>,
    ids: AtomicU64,
    /// How many notifications were sent for which the server has not returned an error.
    unanswered_notifications: AtomicU64,
    is_modern: AtomicBool,
    /// Whether the server has sent any message.
    has_sent_message: AtomicBool,
    server_requests: ServerRequests,
    /// Permits for messages without a response that are being sent over HTTP.
    #[cfg(feature = "http")]
    background_sends: Arc<Semaphore>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
}

/// How many messages without a response may be sent over HTTP at once. More are dropped: only a
/// server that sends requests faster than it reads our responses reaches the limit.
#[cfg(feature = "http")]
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

    /// Creates the state of a connection, with an optional tracer.
    pub(crate) fn with_tracer(
        handler: Arc<dyn ClientHandler>,
        limits: SessionLimits,
        tasks: TaskTracker,
        tracer: Option<Arc<dyn Tracer>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            pending: PendingRequests::default(),
            violations: SessionViolations::default(),
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
            #[cfg(feature = "http")]
            background_sends: Arc::new(Semaphore::new(MAX_BACKGROUND_SENDS)),
            tracer,
        })
    }

    /// Returns an id that was never used on this connection.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that the server is of the modern era, in which servers send no requests.
    pub(crate) fn set_modern(&self) {
        self.is_modern.store(true, Ordering::Relaxed);
    }

    /// Tells whether the server has written text, but not a single message.
    pub(crate) fn received_no_message(&self) -> bool {
        !self.has_sent_message.load(Ordering::Relaxed)
            && self.violations.has(&SessionViolation::JunkOutput)
    }

    /// Runs a task of this connection. If it panics, the session ends: all pending requests fail,
    /// and other connections are not affected.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let guard = EndOnPanic(Arc::clone(self));
        self.tasks.spawn(async move {
            let _guard = guard;
            task.await;
        });
    }

    /// Ends the session: all pending requests fail with the reason.
    pub(crate) fn end(&self, ended: SessionEnd, unsent: &[u64]) {
        self.pending.end(&Arc::new(ended), unsent);
        self.ended.cancel();
        self.server_requests.end();
    }

    /// Returns when the server last waited for a response of ours, if ever.
    pub(crate) fn last_server_request(&self) -> Option<Instant> {
        self.server_requests.last_activity()
    }

    /// Tells the handler that a new session has replaced one that the server has lost.
    ///
    /// All lists may be different now, so they are announced as changed.
    #[cfg(feature = "http")]
    pub(crate) fn announce_new_session(&self) {
        for kind in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{kind}/list_changed").into();
            self.notify_handler(Notification { method, params: None });
        }
        // If the handler panics, it misses only this.
        drop(callbacks::call(|| self.handler.on_session_renewed()));
    }

    /// Sends a message without a response over HTTP in the background; drops it at the limit.
    #[cfg(feature = "http")]
    pub(crate) fn send_in_background(
        self: &Arc<Self>,
        sending: impl Future<Output = Result<(), super::RequestError>> + Send + 'static,
    ) {
        let Ok(permit) = Arc::clone(&self.background_sends).try_acquire_owned() else {
            self.violations.add(SessionViolation::Other(
                "sends requests faster than it reads the responses".into(),
            ));
            return;
        };
        let core = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                () = core.ended.cancelled() => {}
                outcome = sending => if let Err(error) = outcome {
                    // The error is not logged: it may contain text of the server.
                    let never_sent = error.never_sent();
                    tracing::debug!(never_sent, "the server did not accept a message");
                }
            }
            drop(permit);
        });
    }

    /// Counts a notification that is sent.
    pub(crate) fn count_notification(&self) {
        self.unanswered_notifications.fetch_add(1, Ordering::Relaxed);
    }

    /// Parses and routes one text of the server; `false` if it is not a message.
    pub(crate) fn handle_text<S: MessageSender>(
        self: &Arc<Self>,
        text: &Bytes,
        sender: &Arc<S>,
    ) -> bool {
        let received = self.read(text);
        let is_message = received.is_some();
        if let Some(received) = received {
            self.receive(received, sender, Arrival::Shared);
        }
        is_message
    }

    /// Parses one text of the server, and adds the violations in it.
    pub(crate) fn read(&self, text: &Bytes) -> Option<Received> {
        self.trace(TraceEvent::Received(text));
        let mut violations = Vec::new();
        let Ok(received) = envelope::read_leniently(text, &mut violations) else {
            self.violations.add(SessionViolation::JunkOutput);
            return None;
        };
        for violation in violations {
            self.violations.add(SessionViolation::Envelope(violation));
        }
        self.has_sent_message.store(true, Ordering::Relaxed);
        Some(received)
    }

    /// Passes an event to the tracer, if there is one.
    pub(crate) fn trace(&self, event: TraceEvent<'_>) {
        super::trace::trace(self.tracer.as_ref(), event);
    }

    /// Routes parsed messages.
    pub(crate) fn receive<S: MessageSender>(
        self: &Arc<Self>,
        received: Received,
        sender: &Arc<S>,
        arrival: Arrival,
    ) {
        match received {
            Received::One(message) => self.route(message, sender, arrival),
            Received::Many { messages, malformed } => {
                if malformed > 0 {
                    self.violations.add(SessionViolation::JunkOutput);
                }
                for message in messages {
                    self.route(message, sender, arrival);
                }
            }
        }
    }

    fn route<S: MessageSender>(
        self: &Arc<Self>,
        message: Message,
        sender: &Arc<S>,
        arrival: Arrival,
    ) {
        match message {
            Message::Response(response) => self.handle_response(response),
            Message::Notification(notification) => self.handle_notification(notification),
            Message::Request(request) => self.handle_request(request, sender, arrival),
        }
    }

    fn handle_response(&self, response: Response) {
        let Some(id) = response.id.as_ref().and_then(Id::as_sent_number) else {
            // A response without a usable id is matched only if it is clear which request it is
            // for.
            self.violations.add(SessionViolation::MissingId);
            let request_id = match &response.outcome {
                Err(error) if self.is_about_a_notification(error) => None,
                Err(_) => self.pending.oldest(),
                Ok(_) => self.pending.single(),
            };
            if let Some(id) = request_id.filter(|_| response.id.is_none()) {
                let answer = match response.outcome {
                    Ok(result) => RequestOutcome::Response(Ok(result)),
                    Err(error) => RequestOutcome::Unidentified(error),
                };
                self.pending.complete(id, answer);
            }
            return;
        };
        let was_awaited = self.pending.complete(id, RequestOutcome::Response(response.outcome));
        // A response to a cancelled request is late, but not a violation.
        if !was_awaited && id >= self.ids.load(Ordering::Relaxed) {
            self.violations.add(SessionViolation::UnknownId);
        }
    }

    /// Tells whether an error without an id is a response to a notification, which has no id.
    ///
    /// Each notification accounts for one such error. Other error codes are about unreadable
    /// messages.
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
            _ => self.notify_handler(notification),
        }
    }

    fn notify_handler(&self, notification: Notification) {
        // If the handler panics, it misses only this notification.
        drop(callbacks::call(|| self.handler.on_notification(notification)));
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
            // Two receivers may be woken in any order, so the order of arrival is recorded here.
            let is_last = self.ids.load(Ordering::Relaxed) == id + 1;
            let is_before_next_response = is_last || self.pending.is_open(id + 1);
            // The send fails if the subscriber is gone; then the response removes this entry.
            drop(waiting.send(SubscriptionAck { params: params.clone(), is_before_next_response }));
        }
    }

    /// A server cancels its own request, or ends a subscription of ours.
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

    fn handle_request<S: MessageSender>(
        self: &Arc<Self>,
        request: Request,
        sender: &Arc<S>,
        arrival: Arrival,
    ) {
        if self.is_modern.load(Ordering::Relaxed) {
            // A modern server must not send requests, and gets no response.
            self.violations.add(SessionViolation::UnexpectedRequest);
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
        let cause = match arrival {
            Arrival::Shared => self.pending.common_cause(),
            #[cfg(any(feature = "http", test))]
            Arrival::ResponseTo(id) => self.pending.cause(id),
        };
        let reply = self.call_handler(&method, params, cause);
        let (core, sender) = (Arc::clone(self), Arc::clone(sender));
        self.tasks.spawn(async move {
            let outcome = tokio::select! {
                () = token.cancelled() => return,
                // A request that arrives while the session ends is not cancelled with the others.
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

    /// Calls the handler. If it panics, the result is an error; the session continues.
    pub(crate) fn call_handler(
        &self,
        method: &str,
        params: Option<Json>,
        cause: Option<RequestCause>,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send + use<> {
        let asked = callbacks::call(|| self.handler.on_request(method, params, cause));
        async move {
            let reply = match asked {
                Ok(reply) => callbacks::call_and_wait(|| reply).await,
                Err(panicked) => Err(panicked),
            };
            reply.unwrap_or_else(|_| {
                Err(RpcError::new(code::INTERNAL, "the client failed to answer"))
            })
        }
    }
}

/// Ends the session when its task panics.
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
        assert_eq!(ended.to_string(), "internal error: the connection task panicked");
    }
}
