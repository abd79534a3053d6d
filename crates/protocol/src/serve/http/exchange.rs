//! Requests of one POST and their answers: plain JSON if that is all, a stream if there is more.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::events::{Opening, events};
use super::feed::{Beginning, Feed, FeedReader, Kind};
use super::sessions::{Busy, HttpSession};
use super::{App, reply, status_of};
use crate::Json;
use crate::envelope::{Id, Request, RpcError};
use crate::era::{Era, Revision};
use crate::serve::caller::{self, Caller};
use crate::serve::claims::Meta;
use crate::serve::client::Client;
use crate::serve::headers::ParamHeaders;
use crate::serve::outlet::Outlet;
use crate::serve::result::Shape;
use crate::serve::running::Noted;
use crate::serve::server;
use crate::serve::service::{Answer, Call};
use crate::view::LogLevel;

pub(super) struct Exchange {
    app: Arc<App>,
    client: Client,
    session: Option<Arc<HttpSession>>,
    /// Lasts at least as long as the exchange does.
    busy: Option<Busy>,
    feed: Arc<Feed>,
    token: CancellationToken,
    reader: FeedReader,
    is_batch: bool,
}

/// A request, and what else it says about itself.
pub(super) struct Source {
    pub(super) request: Request,
    pub(super) meta: Meta,
    pub(super) level: Option<LogLevel>,
}

impl Exchange {
    /// Makes an exchange that ends with its connection.
    pub(super) fn modern(app: &Arc<App>, client: Client) -> Self {
        let feed = Arc::new(Feed::new(0, Kind::Once, 1));
        let token = CancellationToken::new();
        let reader = feed.attach(None).cancelling(token.clone());
        let app = Arc::clone(app);
        Self { app, client, session: None, busy: None, feed, token, reader, is_batch: false }
    }

    /// Makes an exchange that outlives its connection.
    pub(super) fn legacy(app: &Arc<App>, session: Arc<HttpSession>, answers: usize) -> Self {
        let feed = session.stream(answers);
        let reader = feed.attach(None);
        Self {
            app: Arc::clone(app),
            client: session.client().clone(),
            busy: Some(session.busy()),
            session: Some(session),
            feed,
            token: CancellationToken::new(),
            reader,
            is_batch: false,
        }
    }

    /// Answers with a list, even of one.
    pub(super) fn batched(mut self) -> Self {
        self.is_batch = true;
        self
    }

    /// Starts the requests and answers when it is clear how.
    pub(super) async fn serve(mut self, sources: Vec<Source>, headers: &HeaderMap) -> Response {
        let headers = ParamHeaders::of(headers);
        let first = sources.first().map(|source| source.request.id.clone());
        let Ok(count) = u32::try_from(sources.len()) else {
            return reply::empty(StatusCode::PAYLOAD_TOO_LARGE);
        };
        let Ok(permits) = Arc::clone(&self.app.permits).try_acquire_many_owned(count) else {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return reply::refused(status, first.as_ref(), "Too many requests at once");
        };
        let permits = Arc::new(permits);
        for source in sources {
            self.start(source, headers.clone(), Arc::clone(&permits)).await;
        }
        match self.reader.beginning(self.app.options.keep_alive).await {
            Beginning::Answers(answers) => self.plain(answers),
            Beginning::Stream => self.streamed(),
        }
    }

    async fn start(
        &self,
        source: Source,
        headers: ParamHeaders,
        permit: Arc<OwnedSemaphorePermit>,
    ) {
        let Source { request, meta, level } = source;
        let Request { id, method, params } = request;
        let caller = Caller::new(caller::Inner {
            client: self.client.clone(),
            id: id.clone(),
            outlet: Outlet::Feed(Arc::clone(&self.feed)),
            // The requests of a batch are cancelled one by one.
            token: if self.is_batch { CancellationToken::new() } else { self.token.clone() },
            level,
            meta,
            announcer: self.app.core.announcer().clone(),
        });
        let call = Call { method, params, caller: caller.clone(), headers };
        let (shape, lasting) = (server::shape(&call), server::lasting(&call));
        let mut answer = self.app.core.answer(call);
        let feed = Arc::clone(&self.feed);
        // Most answers are ready at once, and a task of their own would cost more than they do.
        if let Some(outcome) = server::at_once(&mut answer).await {
            return put(&self.app, &feed, (&id, shape), outcome);
        }
        let token = caller.cancellation().clone();
        let running = self.client.legacy().map(|session| session.running());
        let noted = running.map(|running| running.note(&id, token, lasting));
        let busy = self.session.as_ref().map(HttpSession::busy);
        let task = Task { app: Arc::clone(&self.app), feed, id, shape, caller, answer };
        self.app.core.tracker().spawn(task.run((noted, busy, permit)));
    }

    fn plain(self, mut answers: Vec<(StatusCode, Bytes)>) -> Response {
        if !self.is_batch {
            return match answers.pop() {
                Some((status, text)) => reply::json(status, text),
                // The request was cancelled, so there is nothing to say.
                None => reply::empty(StatusCode::ACCEPTED),
            };
        }
        let parts: Vec<&[u8]> = answers.iter().map(|(_, text)| text.as_ref()).collect();
        let list = [b"[", parts.join(&b','.to_owned()).as_slice(), b"]"].concat();
        reply::json(StatusCode::OK, list)
    }

    fn streamed(self) -> Response {
        let opening = match self.client.era() {
            Era::Modern => Opening::None,
            Era::Legacy if self.client.revision() >= Revision::V2025_11_25 => Opening::Event,
            Era::Legacy => Opening::Fields,
        };
        if let Some(session) = &self.session {
            session.keep(Arc::clone(&self.feed));
        }
        let options = &self.app.options;
        events(self.reader, (opening, options.retry), options.keep_alive, self.busy)
    }
}

/// A call that goes on by itself.
struct Task {
    app: Arc<App>,
    feed: Arc<Feed>,
    id: Id,
    shape: Shape,
    caller: Caller,
    answer: Answer,
}

impl Task {
    /// Waits for the answer; `held` is what lasts as long as the call.
    async fn run(self, held: (Option<Noted>, Option<Busy>, Arc<OwnedSemaphorePermit>)) {
        match server::wanted(self.answer, &self.caller).await {
            Some(outcome) => put(&self.app, &self.feed, (&self.id, self.shape), outcome),
            None => self.feed.forgo(),
        }
        drop(held);
    }
}

fn put(app: &App, feed: &Feed, (id, shape): (&Id, Shape), outcome: Result<Json, RpcError>) {
    let status = match &outcome {
        Err(error) if shape != Shape::AsIs => status_of(error.code),
        _ => StatusCode::OK,
    };
    feed.answer(app.core.written(id, shape, outcome), status);
}
