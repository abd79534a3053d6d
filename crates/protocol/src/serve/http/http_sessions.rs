//! Legacy sessions on HTTP: lookup by id, idle timeout, eviction, and streams that can be resumed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::event_queue::{EventQueue, QueueKind};
use super::options::HttpServerOptions;
use crate::serve::client::Client;
use crate::serve::handshake::InitializeParams;
use crate::serve::legacy_session::{LegacySession, SessionId};
use crate::serve::message_sink::MessageSink;
use crate::serve::running_calls::RunningCalls;
use crate::serve::server::ServerCore;

/// How many finished streams are kept for resumption, and how many bytes of them.
const MAX_KEPT_STREAMS: usize = 32;
const MAX_KEPT_BYTES: usize = 8 << 20;

/// How many streams one session may keep.
const MAX_STREAMS: usize = 1024;

pub(super) struct HttpSessions {
    core: Arc<ServerCore>,
    idle_timeout: Duration,
    max_sessions: usize,
    open: Mutex<HashMap<SessionId, Arc<HttpSession>>>,
}

impl HttpSessions {
    pub(super) fn new(core: &Arc<ServerCore>, options: &HttpServerOptions) -> Self {
        Self {
            core: Arc::clone(core),
            idle_timeout: options.session_idle_timeout,
            max_sessions: options.max_sessions,
            open: Mutex::default(),
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
        lock(&self.open).get(&SessionId::from(id)).cloned()
    }

    /// Opens a session; if there are too many, evicts the session that was idle the longest.
    pub(super) fn open(self: &Arc<Self>, session: HttpSession) -> Option<Arc<HttpSession>> {
        let session = Arc::new(session);
        let id = session.client.session()?.clone();
        let mut evicted = None;
        let mut open = lock(&self.open);
        if open.len() >= self.max_sessions {
            let idle = open.iter().filter_map(|(id, it)| Some((it.idle_since()?, id.clone())));
            let (_, oldest) = idle.min_by_key(|(since, _)| *since)?;
            evicted = Some(oldest);
        }
        open.insert(id.clone(), Arc::clone(&session));
        drop(open);
        if let Some(oldest) = evicted {
            self.end(&oldest);
        }
        self.core.change_notifier().add_session(session.client.clone());
        let (sessions, watched) = (Arc::clone(self), Arc::clone(&session));
        self.core.tracker().spawn(async move {
            watched.until_idle(sessions.idle_timeout, sessions.core.closing()).await;
            sessions.end(&id);
        });
        Some(session)
    }

    /// Ends a session, if it has not ended already.
    pub(super) fn end(&self, id: &SessionId) {
        let Some(session) = lock(&self.open).remove(id) else { return };
        self.core.change_notifier().remove_session(id);
        session.end();
        self.core.end_session(&session.client);
    }
}

pub(super) struct HttpSession {
    client: Client,
    standalone: Arc<EventQueue>,
    streams: Mutex<SessionStreams>,
    usage: Mutex<SessionUsage>,
    /// Fires when the session is no longer in use.
    freed: Notify,
    ended: CancellationToken,
}

#[derive(Default)]
struct SessionStreams {
    last: u64,
    kept: VecDeque<Arc<EventQueue>>,
}

struct SessionUsage {
    busy: usize,
    last: Instant,
}

impl HttpSession {
    pub(super) fn new(params: InitializeParams) -> Result<Self, getrandom::Error> {
        let standalone = Arc::new(EventQueue::standalone());
        let sink = MessageSink::Stream(Arc::clone(&standalone));
        let session = LegacySession::new(SessionId::generate()?, sink, RunningCalls::default());
        Ok(Self {
            client: params.into_client(session),
            standalone,
            streams: Mutex::default(),
            usage: Mutex::new(SessionUsage { busy: 0, last: Instant::now() }),
            freed: Notify::new(),
            ended: CancellationToken::new(),
        })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Marks the session as used until the guard is dropped.
    pub(super) fn mark_used(self: &Arc<Self>) -> SessionUseGuard {
        lock(&self.usage).busy += 1;
        SessionUseGuard(Arc::clone(self))
    }

    /// Creates a feed for the answers to a request.
    pub(super) fn stream(&self, answers: usize) -> Arc<EventQueue> {
        let mut streams = lock(&self.streams);
        streams.last += 1;
        Arc::new(EventQueue::new(streams.last, QueueKind::Resumable, answers))
    }

    /// Keeps a feed, so that its stream can be resumed; the oldest ones are removed.
    pub(super) fn keep(&self, queue: Arc<EventQueue>) {
        let mut streams = lock(&self.streams);
        streams.kept.push_back(queue);
        loop {
            let over = streams.kept.iter().filter(|queue| queue.is_finished());
            let (count, bytes) =
                over.fold((0, 0), |(count, bytes), queue| (count + 1, bytes + queue.bytes()));
            let is_full = streams.kept.len() > MAX_STREAMS;
            if count <= MAX_KEPT_STREAMS && bytes <= MAX_KEPT_BYTES && !is_full {
                return;
            }
            let oldest = streams.kept.iter().position(|queue| queue.is_finished()).unwrap_or(0);
            streams.kept.remove(oldest);
        }
    }

    /// Finds the stream and the event number for an event id.
    pub(super) fn resume(&self, event: &str) -> Option<(Arc<EventQueue>, u64)> {
        let (stream, number) = event.split_once('-')?;
        let (stream, number): (u64, u64) = (stream.parse().ok()?, number.parse().ok()?);
        if stream == 0 {
            return Some((self.standalone(), number));
        }
        let streams = lock(&self.streams);
        let queue = streams.kept.iter().find(|queue| queue.stream() == stream)?;
        Some((Arc::clone(queue), number))
    }

    /// Returns the feed for messages that belong to no request.
    pub(super) fn standalone(&self) -> Arc<EventQueue> {
        Arc::clone(&self.standalone)
    }

    fn end(&self) {
        self.ended.cancel();
        if let Some(session) = self.client.legacy_session() {
            session.end();
        }
        self.standalone.close();
        lock(&self.streams).kept.drain(..).for_each(|queue| queue.close());
    }

    fn idle_since(&self) -> Option<Instant> {
        let usage = lock(&self.usage);
        (usage.busy == 0).then_some(usage.last)
    }

    /// Waits until the session was idle for `limit`, or until it or the server has ended.
    async fn until_idle(&self, limit: Duration, closing: &CancellationToken) {
        loop {
            let end = self.idle_since().unwrap_or_else(Instant::now) + limit;
            if end <= Instant::now() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep_until(end) => {}
                () = self.ended.cancelled() => return,
                () = closing.cancelled() => break,
            }
        }
        // Calls that are running may finish, but no messages are sent outside of them.
        self.standalone.close();
        loop {
            let freed = self.freed.notified();
            if self.idle_since().is_some() {
                return;
            }
            freed.await;
        }
    }
}

/// Marks a session as in use until it is dropped.
pub(super) struct SessionUseGuard(Arc<HttpSession>);

impl Drop for SessionUseGuard {
    fn drop(&mut self) {
        let mut usage = lock(&self.0.usage);
        usage.busy -= 1;
        usage.last = Instant::now();
        drop(usage);
        self.0.freed.notify_waiters();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
