//! What a line means: whose it is, which era it belongs to, and where its answer goes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::outbox::Outbox;
use crate::envelope::{
    self, Malformed, Message, Notification, Received, Request, Response, RpcError, code,
};
use crate::era::Revision;
use crate::serve::caller::{self, Caller};
use crate::serve::claims::{Meta, Named};
use crate::serve::client::Client;
use crate::serve::discover::{self, Hello};
use crate::serve::headers::ParamHeaders;
use crate::serve::outlet::Outlet;
use crate::serve::result::Shape;
use crate::serve::running::{Lasting, Running};
use crate::serve::server::{self, Core};
use crate::serve::service::{Answer, Call, Notice};
use crate::serve::session::{Session, SessionId};
use crate::view::LogLevel;

/// How many calls may be under way.
const MOST_CALLS: usize = 4096;

pub(super) struct Pipe {
    core: Arc<Core>,
    outbox: Arc<Outbox>,
    running: Running,
    /// The client since its `initialize`, if it sent one.
    session: OnceLock<Client>,
    /// Whether the client has shown that it knows the answer to `initialize`.
    is_introduced: AtomicBool,
    tracker: TaskTracker,
    dead: CancellationToken,
}

impl Pipe {
    pub(super) fn new(core: &Arc<Core>) -> Self {
        Self {
            core: Arc::clone(core),
            outbox: Arc::default(),
            running: Running::default(),
            session: OnceLock::new(),
            is_introduced: AtomicBool::new(false),
            tracker: TaskTracker::new(),
            dead: CancellationToken::new(),
        }
    }

    pub(super) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    pub(super) fn refuse_long_line(&self) {
        let error = RpcError::new(code::INVALID_REQUEST, "Message too long");
        self.outbox.put(envelope::failure(None, &error));
    }

    /// Does what a line asks for; returns when the next line may come.
    pub(super) async fn take(&self, line: Bytes) {
        match envelope::read(line) {
            Ok(Received::One(message)) => {
                self.message(message, &Sink::Line(Arc::clone(&self.outbox))).await;
            }
            Ok(Received::Many { messages, malformed }) => self.batch(messages, malformed).await,
            Err(Malformed::NotJson) => {
                let error = RpcError::new(code::PARSE, "Parse error");
                self.outbox.put(envelope::failure(None, &error));
            }
            Err(Malformed::NotAMessage) => self.outbox.put(not_a_message()),
        }
    }

    async fn batch(&self, messages: Vec<Message>, malformed: usize) {
        let has_batches = |client: &Client| client.revision() <= Revision::V2025_03_26;
        if !self.session.get().is_some_and(has_batches) {
            let error = RpcError::new(code::INVALID_REQUEST, "Batches are not supported");
            self.outbox.put(envelope::failure(None, &error));
            return;
        }
        let parts = std::iter::repeat_with(not_a_message).take(malformed).collect();
        let batch = Batch { outbox: Arc::clone(&self.outbox), parts: Mutex::new(parts) };
        let sink = Sink::Batch(Arc::new(batch));
        for message in messages {
            self.message(message, &sink).await;
        }
    }

    async fn message(&self, message: Message, sink: &Sink) {
        match message {
            Message::Request(request) => self.request(request, sink).await,
            Message::Notification(notification) => self.notification(notification),
            Message::Response(response) => self.response(response),
        }
    }

    fn response(&self, response: Response) {
        self.introduce();
        if let Some(session) = self.session.get().and_then(Client::legacy) {
            session.asks().settle(response);
        }
    }

    fn notification(&self, notification: Notification) {
        let Notification { method, params } = notification;
        self.introduce();
        if method == "notifications/cancelled" {
            self.running.cancel(params.as_ref());
        } else if let Some(client) = self.session.get() {
            self.core.service().notified(Notice { method, params, client: client.clone() });
        }
    }

    async fn request(&self, request: Request, sink: &Sink) {
        let id = request.id.clone();
        let started = if self.running.len() < MOST_CALLS {
            self.start(request)
        } else {
            Err(RpcError::new(code::INTERNAL, "Too many requests at once"))
        };
        let mut task = match started {
            Ok(task) => task,
            Err(error) => return sink.put(envelope::failure(Some(&id), &error)).await,
        };
        // Most answers are ready at once, and a task of their own would cost more than they do.
        if let Some(outcome) = server::at_once(&mut task.answer).await {
            return sink.put(self.core.written(&id, task.shape, outcome)).await;
        }
        let token = task.caller.cancellation().clone();
        let noted = self.running.note(&id, token, task.lasting);
        let (core, dead, sink) = (Arc::clone(&self.core), self.dead.clone(), sink.clone());
        self.tracker.spawn(async move {
            let outcome = tokio::select! {
                biased;
                outcome = server::wanted(task.answer, &task.caller) => outcome,
                () = dead.cancelled() => None,
            };
            drop(noted);
            if let Some(outcome) = outcome {
                sink.put(core.written(&id, task.shape, outcome)).await;
            }
        });
    }

    /// Decides the era of a request and starts it.
    fn start(&self, request: Request) -> Result<Task, RpcError> {
        let meta = Meta::of(request.params.as_ref());
        let session = self.session.get();
        let is_handshake = matches!(request.method.as_ref(), "initialize" | "ping");
        if meta.names() == Named::Modern || (session.is_none() && !is_handshake) {
            let claims = meta.claims()?;
            let level = claims.level;
            return Ok(self.call(request, claims.into_client(), (meta, level)));
        }
        match session {
            Some(_) if request.method == "initialize" => {
                Err(RpcError::new(code::INVALID_REQUEST, "Already initialized"))
            }
            Some(client) => {
                self.introduce();
                Ok(self.call(request, client.clone(), (meta, None)))
            }
            None if request.method == "initialize" => self.initialize(&request, meta),
            None => Ok(self.call(request, Client::unknown(), (meta, None))),
        }
    }

    fn initialize(&self, request: &Request, meta: Meta) -> Result<Task, RpcError> {
        let hello = Hello::read(request.params.as_ref())?;
        let id = SessionId::draw()
            .map_err(|_| RpcError::new(code::INTERNAL, "No randomness for a session"))?;
        let outlet = Outlet::Pipe(Arc::clone(&self.outbox));
        let client = hello.into_client(Session::new(id, outlet, self.running.clone()));
        let client = self.session.get_or_init(|| client).clone();
        let caller = self.caller(request, client.clone(), (meta, None));
        let core = Arc::clone(&self.core);
        let answer = Box::pin(async move { Ok(discover::initialize(&core, &client).await) });
        Ok(Task { answer, shape: Shape::AsIs, lasting: Lasting::Briefly, caller })
    }

    fn call(&self, request: Request, client: Client, extra: (Meta, Option<LogLevel>)) -> Task {
        let caller = self.caller(&request, client, extra);
        let Request { method, params, .. } = request;
        let call =
            Call { method, params, caller: caller.clone(), headers: ParamHeaders::default() };
        let (shape, lasting) = (server::shape(&call), server::lasting(&call));
        Task { answer: self.core.answer(call), shape, lasting, caller }
    }

    fn caller(&self, request: &Request, client: Client, extra: (Meta, Option<LogLevel>)) -> Caller {
        let (meta, level) = extra;
        Caller::new(caller::Inner {
            client,
            id: request.id.clone(),
            outlet: Outlet::Pipe(Arc::clone(&self.outbox)),
            token: CancellationToken::new(),
            level,
            meta,
            announcer: self.core.announcer().clone(),
        })
    }

    /// Lets the client hear of changes once it goes on after `initialize`.
    fn introduce(&self) {
        if let Some(client) = self.session.get()
            && !self.is_introduced.swap(true, Ordering::Relaxed)
        {
            self.core.announcer().enter(client.clone());
        }
    }

    /// Ends everything: calls have `grace` to finish, and no answer of the client can come any more.
    pub(super) async fn finish(&self, grace: Duration) {
        if let Some(session) = self.session.get().and_then(Client::legacy) {
            session.asks().close();
        }
        if !self.core.closing().is_cancelled() {
            self.running.cancel_lasting();
        }
        self.tracker.close();
        if tokio::time::timeout(grace, self.tracker.wait()).await.is_err() {
            self.running.cancel_all();
            self.dead.cancel();
            self.tracker.wait().await;
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.running.cancel_all();
        self.dead.cancel();
        self.outbox.close();
        let Some(client) = self.session.get() else { return };
        if let Some(session) = client.legacy() {
            self.core.announcer().leave(session.id());
            session.end();
        }
        self.core.service().session_ended(client);
    }
}

/// A call that has been started.
struct Task {
    answer: Answer,
    shape: Shape,
    lasting: Lasting,
    caller: Caller,
}

/// Where an answer goes.
#[derive(Clone)]
enum Sink {
    Line(Arc<Outbox>),
    Batch(Arc<Batch>),
}

impl Sink {
    async fn put(&self, answer: Vec<u8>) {
        match self {
            // The reader checks for room before each line, so this waits only for large answers of
            // others; if the client is gone, so is the use of the answer.
            Self::Line(outbox) => drop(outbox.send(answer).await),
            Self::Batch(batch) => {
                batch.parts.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
            }
        }
    }
}

/// The answers to a batch, which leave together when the last call is done.
struct Batch {
    outbox: Arc<Outbox>,
    parts: Mutex<Vec<Vec<u8>>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !parts.is_empty() {
            let mut line = vec![b'['];
            line.extend_from_slice(&parts.join(&b','));
            line.push(b']');
            self.outbox.put(line);
        }
    }
}

fn not_a_message() -> Vec<u8> {
    envelope::failure(None, &RpcError::new(code::INVALID_REQUEST, "Invalid Request"))
}
