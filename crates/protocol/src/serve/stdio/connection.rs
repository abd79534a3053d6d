//! One stdio connection: reads messages from lines, decides their era, and runs their calls.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::output_queue::OutputQueue;
use crate::envelope::{
    self, Malformed, Message, Notification, Received, Request, Response, RpcError, code,
};
use crate::era::Revision;
use crate::serve::client::Client;
use crate::serve::client_meta::{NamedRevision, ParamsMeta};
use crate::serve::handshake::{self, InitializeParams};
use crate::serve::headers::ParamHeaders;
use crate::serve::legacy_session::{LegacySession, SessionId};
use crate::serve::message_sink::MessageSink;
use crate::serve::request_context::{self, RequestContext};
use crate::serve::result_shape::ResultShape;
use crate::serve::running_calls::{CallLifetime, RunningCalls};
use crate::serve::server::{self, ServerCore};
use crate::serve::service::{ClientNotification, ServiceAnswer, ServiceCall};
use crate::view::LogLevel;

/// How many calls may run at the same time.
const MAX_CALLS: usize = 4096;

pub(super) struct StdioConnection {
    core: Arc<ServerCore>,
    output: Arc<OutputQueue>,
    running: RunningCalls,
    /// The client since its `initialize`, if it sent one.
    session: OnceLock<Client>,
    /// Whether the client has sent a message after `initialize`.
    is_registered: AtomicBool,
    tracker: TaskTracker,
    aborted: CancellationToken,
}

impl StdioConnection {
    pub(super) fn new(core: &Arc<ServerCore>) -> Self {
        Self {
            core: Arc::clone(core),
            output: Arc::default(),
            running: RunningCalls::default(),
            session: OnceLock::new(),
            is_registered: AtomicBool::new(false),
            tracker: TaskTracker::new(),
            aborted: CancellationToken::new(),
        }
    }

    pub(super) fn output(&self) -> &Arc<OutputQueue> {
        &self.output
    }

    pub(super) fn refuse_long_line(&self) {
        let error = RpcError::new(code::INVALID_REQUEST, "Message too long");
        self.output.push(envelope::failure(None, &error));
    }

    /// Handles a line; returns when the next line may be read.
    pub(super) async fn handle_line(&self, line: Bytes) {
        match envelope::read(line) {
            Ok(Received::One(message)) => {
                self.message(message, &ResponseSink::Line(Arc::clone(&self.output))).await;
            }
            Ok(Received::Many { messages, malformed }) => self.batch(messages, malformed).await,
            Err(Malformed::NotJson) => {
                let error = RpcError::new(code::PARSE, "Parse error");
                self.output.push(envelope::failure(None, &error));
            }
            Err(Malformed::NotAMessage) => self.output.push(not_a_message()),
        }
    }

    async fn batch(&self, messages: Vec<Message>, malformed: usize) {
        let has_batches = |client: &Client| client.revision() <= Revision::V2025_03_26;
        if !self.session.get().is_some_and(has_batches) {
            let error = RpcError::new(code::INVALID_REQUEST, "Batches are not supported");
            self.output.push(envelope::failure(None, &error));
            return;
        }
        let parts = std::iter::repeat_with(not_a_message).take(malformed).collect();
        let batch = BatchResponse { output: Arc::clone(&self.output), parts: Mutex::new(parts) };
        let sink = ResponseSink::Batch(Arc::new(batch));
        for message in messages {
            self.message(message, &sink).await;
        }
    }

    async fn message(&self, message: Message, sink: &ResponseSink) {
        match message {
            Message::Request(request) => self.request(request, sink).await,
            Message::Notification(notification) => self.notification(notification),
            Message::Response(response) => self.response(response),
        }
    }

    fn response(&self, response: Response) {
        self.register_session();
        if let Some(session) = self.session.get().and_then(Client::legacy_session) {
            session.client_requests().resolve(response);
        }
    }

    fn notification(&self, notification: Notification) {
        let Notification { method, params } = notification;
        self.register_session();
        if method == "notifications/cancelled" {
            self.running.cancel(params.as_ref());
        } else if let Some(client) = self.session.get() {
            self.core.service().handle_notification(ClientNotification {
                method,
                params,
                client: client.clone(),
            });
        }
    }

    async fn request(&self, request: Request, sink: &ResponseSink) {
        let id = request.id.clone();
        let started = if self.running.len() < MAX_CALLS {
            self.start(request)
        } else {
            Err(RpcError::new(code::INTERNAL, "Too many requests at once"))
        };
        let mut call = match started {
            Ok(call) => call,
            Err(error) => return sink.push(envelope::failure(Some(&id), &error)).await,
        };
        // Most answers are ready immediately, so that spawning would cost more than the call.
        if let Some(outcome) = server::poll_once(&mut call.answer).await {
            return sink.push(self.core.encode_response(&id, call.shape, outcome)).await;
        }
        let token = call.context.cancellation().clone();
        let guard = self.running.insert(&id, token, call.lifetime);
        let (core, aborted, sink) = (Arc::clone(&self.core), self.aborted.clone(), sink.clone());
        self.tracker.spawn(async move {
            let outcome = tokio::select! {
                biased;
                outcome = server::answer_unless_cancelled(call.answer, &call.context) => outcome,
                () = aborted.cancelled() => None,
            };
            drop(guard);
            if let Some(outcome) = outcome {
                sink.push(core.encode_response(&id, call.shape, outcome)).await;
            }
        });
    }

    /// Decides the era of a request and starts it.
    fn start(&self, request: Request) -> Result<StartedCall, RpcError> {
        let meta = ParamsMeta::of(request.params.as_ref());
        let session = self.session.get();
        let is_handshake = matches!(request.method.as_ref(), "initialize" | "ping");
        if meta.named_revision() == NamedRevision::Modern || (session.is_none() && !is_handshake) {
            let client_meta = meta.client_meta()?;
            let level = client_meta.level;
            return Ok(self.call(request, client_meta.into_client(), (meta, level)));
        }
        match session {
            Some(_) if request.method == "initialize" => {
                Err(RpcError::new(code::INVALID_REQUEST, "Already initialized"))
            }
            Some(client) => {
                self.register_session();
                Ok(self.call(request, client.clone(), (meta, None)))
            }
            None if request.method == "initialize" => self.initialize(&request, meta),
            None => Ok(self.call(request, Client::unknown(), (meta, None))),
        }
    }

    fn initialize(&self, request: &Request, meta: ParamsMeta) -> Result<StartedCall, RpcError> {
        let params = InitializeParams::read(request.params.as_ref())?;
        let id = SessionId::generate()
            .map_err(|_| RpcError::new(code::INTERNAL, "Could not generate a session id"))?;
        let sink = MessageSink::Pipe(Arc::clone(&self.output));
        let client = params.into_client(LegacySession::new(id, sink, self.running.clone()));
        let client = self.session.get_or_init(|| client).clone();
        let context = self.context(request, client.clone(), (meta, None));
        let core = Arc::clone(&self.core);
        let answer = Box::pin(async move { Ok(handshake::initialize(&core, &client).await) });
        Ok(StartedCall {
            answer,
            shape: ResultShape::AsIs,
            lifetime: CallLifetime::UntilAnswered,
            context,
        })
    }

    fn call(
        &self,
        request: Request,
        client: Client,
        extra: (ParamsMeta, Option<LogLevel>),
    ) -> StartedCall {
        let context = self.context(&request, client, extra);
        let Request { method, params, .. } = request;
        let call = ServiceCall {
            method,
            params,
            context: context.clone(),
            headers: ParamHeaders::default(),
        };
        let (shape, lifetime) = (server::shape(&call), server::lifetime(&call));
        StartedCall { answer: self.core.answer(call), shape, lifetime, context }
    }

    fn context(
        &self,
        request: &Request,
        client: Client,
        extra: (ParamsMeta, Option<LogLevel>),
    ) -> RequestContext {
        let (meta, level) = extra;
        RequestContext::new(request_context::ContextFields {
            client,
            id: request.id.clone(),
            sink: MessageSink::Pipe(Arc::clone(&self.output)),
            token: CancellationToken::new(),
            level,
            meta,
            change_notifier: self.core.change_notifier().clone(),
        })
    }

    /// Registers the session for change notifications, once the client has continued after
    /// `initialize`.
    fn register_session(&self) {
        if let Some(client) = self.session.get()
            && !self.is_registered.swap(true, Ordering::Relaxed)
        {
            self.core.change_notifier().add_session(client.clone());
        }
    }

    /// Ends the connection after the end of the input: running calls have `grace` to finish.
    pub(super) async fn finish(&self, grace: Duration) {
        if let Some(session) = self.session.get().and_then(Client::legacy_session) {
            session.client_requests().close();
        }
        if !self.core.closing().is_cancelled() {
            self.running.cancel_subscriptions();
        }
        self.tracker.close();
        if tokio::time::timeout(grace, self.tracker.wait()).await.is_err() {
            self.running.cancel_all();
            self.aborted.cancel();
            self.tracker.wait().await;
        }
    }
}

impl Drop for StdioConnection {
    fn drop(&mut self) {
        self.running.cancel_all();
        self.aborted.cancel();
        self.output.close();
        let Some(client) = self.session.get() else { return };
        if let Some(session) = client.legacy_session() {
            self.core.change_notifier().remove_session(session.id());
            session.end();
        }
        self.core.end_session(client);
    }
}

/// A call that has been started.
struct StartedCall {
    answer: ServiceAnswer,
    shape: ResultShape,
    lifetime: CallLifetime,
    context: RequestContext,
}

/// The destination of a response.
#[derive(Clone)]
enum ResponseSink {
    Line(Arc<OutputQueue>),
    Batch(Arc<BatchResponse>),
}

impl ResponseSink {
    async fn push(&self, answer: Vec<u8>) {
        match self {
            // The reader waits for room before each line, so this waits only after large responses
            // of other calls. If the client is gone, the response is not needed.
            Self::Line(output) => drop(output.send(answer).await),
            Self::Batch(batch) => {
                batch.parts.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
            }
        }
    }
}

/// The responses to a batch; they are sent together when the last call is done.
struct BatchResponse {
    output: Arc<OutputQueue>,
    parts: Mutex<Vec<Vec<u8>>>,
}

impl Drop for BatchResponse {
    fn drop(&mut self) {
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !parts.is_empty() {
            let mut line = vec![b'['];
            line.extend_from_slice(&parts.join(&b','));
            line.push(b']');
            self.output.push(line);
        }
    }
}

fn not_a_message() -> Vec<u8> {
    envelope::failure(None, &RpcError::new(code::INVALID_REQUEST, "Invalid Request"))
}
