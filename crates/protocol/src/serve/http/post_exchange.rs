//! The requests of one POST and the response: JSON for answers alone, otherwise an event stream.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::event_queue::{EventQueue, EventQueueReader, QueueKind, ResponseMode};
use super::event_stream::{StreamOpening, event_stream_response};
use super::http_sessions::{HttpSession, SessionUseGuard};
use super::{HttpServerState, reply, status_of};
use crate::Json;
use crate::envelope::{Id, Request, RpcError};
use crate::era::{Era, Revision};
use crate::serve::client::Client;
use crate::serve::client_meta::ParamsMeta;
use crate::serve::headers::ParamHeaders;
use crate::serve::message_sink::MessageSink;
use crate::serve::request_context::{self, RequestContext};
use crate::serve::result_shape::ResultShape;
use crate::serve::running_calls::RunningCallGuard;
use crate::serve::server;
use crate::serve::service::{ServiceAnswer, ServiceCall};
use crate::view::LogLevel;

pub(super) struct PostExchange {
    state: Arc<HttpServerState>,
    client: Client,
    session: Option<Arc<HttpSession>>,
    /// Keeps the session in use at least as long as the exchange.
    busy: Option<SessionUseGuard>,
    queue: Arc<EventQueue>,
    token: CancellationToken,
    reader: EventQueueReader,
    is_batch: bool,
}

/// A request with its `_meta` and log level.
pub(super) struct IncomingRequest {
    pub(super) request: Request,
    pub(super) meta: ParamsMeta,
    pub(super) level: Option<LogLevel>,
}

impl PostExchange {
    /// Creates an exchange that ends with its connection.
    pub(super) fn modern(state: &Arc<HttpServerState>, client: Client) -> Self {
        let queue = Arc::new(EventQueue::new(0, QueueKind::Once, 1));
        let token = CancellationToken::new();
        let reader = queue.attach(None).cancel_on_drop(token.clone());
        let state = Arc::clone(state);
        Self { state, client, session: None, busy: None, queue, token, reader, is_batch: false }
    }

    /// Creates an exchange that outlives its connection.
    pub(super) fn legacy(
        state: &Arc<HttpServerState>,
        session: Arc<HttpSession>,
        answers: usize,
    ) -> Self {
        let queue = session.stream(answers);
        let reader = queue.attach(None);
        Self {
            state: Arc::clone(state),
            client: session.client().clone(),
            busy: Some(session.mark_used()),
            session: Some(session),
            queue,
            token: CancellationToken::new(),
            reader,
            is_batch: false,
        }
    }

    /// Makes the response an array, even for one answer.
    pub(super) fn batched(mut self) -> Self {
        self.is_batch = true;
        self
    }

    /// Starts the requests; responds with JSON or with a stream.
    pub(super) async fn serve(
        mut self,
        requests: Vec<IncomingRequest>,
        headers: &HeaderMap,
    ) -> Response {
        let headers = ParamHeaders::of(headers);
        let first = requests.first().map(|incoming| incoming.request.id.clone());
        let Ok(count) = u32::try_from(requests.len()) else {
            return reply::empty(StatusCode::PAYLOAD_TOO_LARGE);
        };
        let Ok(permits) = Arc::clone(&self.state.permits).try_acquire_many_owned(count) else {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return reply::refused(status, first.as_ref(), "Too many requests at once");
        };
        let permits = Arc::new(permits);
        for incoming in requests {
            self.start(incoming, headers.clone(), Arc::clone(&permits)).await;
        }
        match self.reader.response_mode(self.state.options.keep_alive).await {
            ResponseMode::Json(answers) => self.into_json(answers),
            ResponseMode::Stream => self.into_stream(),
        }
    }

    async fn start(
        &self,
        incoming: IncomingRequest,
        headers: ParamHeaders,
        permit: Arc<OwnedSemaphorePermit>,
    ) {
        let IncomingRequest { request, meta, level } = incoming;
        let Request { id, method, params } = request;
        let context = RequestContext::new(request_context::ContextFields {
            client: self.client.clone(),
            id: id.clone(),
            sink: MessageSink::Stream(Arc::clone(&self.queue)),
            // Each request of a batch can be cancelled on its own.
            token: if self.is_batch { CancellationToken::new() } else { self.token.clone() },
            level,
            meta,
            change_notifier: self.state.core.change_notifier().clone(),
        });
        let call = ServiceCall { method, params, context: context.clone(), headers };
        let (shape, lifetime) = (server::shape(&call), server::lifetime(&call));
        let mut answer = self.state.core.answer(call);
        let queue = Arc::clone(&self.queue);
        // Most answers are ready immediately, so that spawning would cost more than the call.
        if let Some(outcome) = server::poll_once(&mut answer).await {
            return write_answer(&self.state, &queue, &id, shape, outcome);
        }
        let token = context.cancellation().clone();
        let running = self.client.legacy_session().map(|session| session.running_calls());
        let guard = running.map(|running| running.insert(&id, token, lifetime));
        let busy = self.session.as_ref().map(HttpSession::mark_used);
        let task =
            SpawnedCall { state: Arc::clone(&self.state), queue, id, shape, context, answer };
        self.state.core.tracker().spawn(task.run((guard, busy, permit)));
    }

    fn into_json(self, mut answers: Vec<(StatusCode, Bytes)>) -> Response {
        if !self.is_batch {
            return match answers.pop() {
                Some((status, text)) => reply::json(status, text),
                // The request was cancelled, so there is no answer.
                None => reply::empty(StatusCode::ACCEPTED),
            };
        }
        let parts: Vec<&[u8]> = answers.iter().map(|(_, text)| text.as_ref()).collect();
        let list = [b"[", parts.join(&b','.to_owned()).as_slice(), b"]"].concat();
        reply::json(StatusCode::OK, list)
    }

    fn into_stream(self) -> Response {
        let opening = match self.client.era() {
            Era::Modern => StreamOpening::None,
            Era::Legacy if self.client.revision() >= Revision::V2025_11_25 => StreamOpening::Event,
            Era::Legacy => StreamOpening::Fields,
        };
        if let Some(session) = &self.session {
            session.keep(Arc::clone(&self.queue));
        }
        let options = &self.state.options;
        event_stream_response(self.reader, opening, options.retry, options.keep_alive, self.busy)
    }
}

/// A call that continues in a spawned task.
struct SpawnedCall {
    state: Arc<HttpServerState>,
    queue: Arc<EventQueue>,
    id: Id,
    shape: ResultShape,
    context: RequestContext,
    answer: ServiceAnswer,
}

impl SpawnedCall {
    /// Waits for the answer; `held` is dropped when the call is done.
    async fn run(
        self,
        held: (Option<RunningCallGuard>, Option<SessionUseGuard>, Arc<OwnedSemaphorePermit>),
    ) {
        match server::answer_unless_cancelled(self.answer, &self.context).await {
            Some(outcome) => write_answer(&self.state, &self.queue, &self.id, self.shape, outcome),
            None => self.queue.skip_answer(),
        }
        drop(held);
    }
}

fn write_answer(
    state: &HttpServerState,
    queue: &EventQueue,
    id: &Id,
    shape: ResultShape,
    outcome: Result<Json, RpcError>,
) {
    let status = match &outcome {
        Err(error) if shape != ResultShape::AsIs => status_of(error.code),
        _ => StatusCode::OK,
    };
    queue.answer(state.core.encode_response(id, shape, outcome), status);
}
