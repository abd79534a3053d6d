//! The event queue of one HTTP stream: calls write events, a connection reads them in order.
//!
//! In the legacy era a client may reconnect and resume after the last event it got, so events are
//! kept for a while. In the modern era the end of the connection cancels the call. A writer waits
//! for a slow reader, but does not wait if no reader is attached.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::serve::client::SendError;
use crate::serve::message_sink::remove_line_breaks;

/// How many events may be unread, and how many are kept for resumption.
const MAX_EVENTS: usize = 256;

/// How many bytes may be unread or kept, besides the newest event.
const MAX_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct EventQueue {
    stream: u64,
    kind: QueueKind,
    state: Mutex<EventQueueState>,
    changed: Notify,
    room: Notify,
}

/// Whether a stream can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueKind {
    /// Legacy era: events have numbers and are kept.
    Resumable,
    /// Modern era: events are removed when they are read.
    Once,
}

#[derive(Debug)]
struct EventQueueState {
    events: VecDeque<QueuedEvent>,
    /// The number of the next event; the first is 1.
    next: u64,
    /// Events below this number have been read.
    read: u64,
    /// How many answers are missing.
    open: usize,
    reader: u64,
    is_attached: bool,
    is_closed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct QueuedEvent {
    pub(super) number: u64,
    pub(super) text: Bytes,
    /// For an answer: the HTTP status if it is the whole response.
    answer: Option<StatusCode>,
}

/// How the response is sent.
pub(super) enum ResponseMode {
    /// As JSON: all answers are ready, and there are no other messages.
    Json(Vec<(StatusCode, Bytes)>),
    /// As an event stream.
    Stream,
}

impl EventQueue {
    /// Creates a feed that ends after this many answers.
    pub(super) fn new(stream: u64, kind: QueueKind, answers: usize) -> Self {
        let state = EventQueueState {
            events: VecDeque::new(),
            next: 1,
            read: 1,
            open: answers,
            reader: 0,
            // The creator attaches a reader next, so writers may already wait for it.
            is_attached: answers > 0,
            is_closed: false,
        };
        Self { stream, kind, state: Mutex::new(state), changed: Notify::new(), room: Notify::new() }
    }

    /// Creates a feed that belongs to no call and ends when it is closed.
    pub(super) fn standalone() -> Self {
        let queue = Self::new(0, QueueKind::Resumable, 1);
        queue.lock().is_attached = false;
        queue
    }

    pub(super) fn stream(&self) -> u64 {
        self.stream
    }

    pub(super) fn kind(&self) -> QueueKind {
        self.kind
    }

    /// Waits until there is room, then writes a message.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), SendError> {
        loop {
            let room = self.room.notified();
            {
                let mut state = self.lock();
                if state.is_closed {
                    return Err(SendError::Gone);
                }
                if !state.is_attached || state.has_room() {
                    state.push(message, None, self.kind);
                    break;
                }
            }
            room.await;
        }
        self.changed.notify_waiters();
        Ok(())
    }

    /// Writes a message immediately; above the limit, the oldest notifications are dropped.
    pub(crate) fn send_lossy(&self, message: Vec<u8>) {
        let mut state = self.lock();
        if !state.is_closed {
            state.push(message, None, self.kind);
            state.drop_oldest_notifications();
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Writes an answer.
    pub(super) fn answer(&self, message: Vec<u8>, status: StatusCode) {
        let mut state = self.lock();
        if !state.is_closed {
            state.push(message, Some(status), self.kind);
        }
        state.open = state.open.saturating_sub(1);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Records that one answer will not be written.
    pub(super) fn skip_answer(&self) {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Ends the stream; unread events stay readable.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_waiters();
        self.room.notify_waiters();
    }

    /// Tells whether no more events will be written.
    pub(super) fn is_finished(&self) -> bool {
        let state = self.lock();
        state.is_closed || state.open == 0
    }

    /// Returns the size of all kept events.
    pub(super) fn bytes(&self) -> usize {
        self.lock().events.iter().map(|event| event.text.len()).sum()
    }

    /// Attaches a reader after the event `after`, or where the last reader stopped.
    ///
    /// The last reader is detached.
    pub(super) fn attach(self: &Arc<Self>, after: Option<u64>) -> EventQueueReader {
        let mut state = self.lock();
        state.reader += 1;
        state.is_attached = true;
        if let Some(after) = after {
            state.read = after.saturating_add(1).min(state.next);
        }
        let reader = state.reader;
        drop(state);
        self.changed.notify_waiters();
        EventQueueReader { queue: Arc::clone(self), reader, token: None }
    }

    fn lock(&self) -> MutexGuard<'_, EventQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventQueueState {
    fn has_room(&self) -> bool {
        let unread = || self.events.iter().filter(|event| event.number >= self.read);
        unread().count() < MAX_EVENTS
            && unread().map(|event| event.text.len()).sum::<usize>() < MAX_BYTES
    }

    fn push(&mut self, mut message: Vec<u8>, answer: Option<StatusCode>, kind: QueueKind) {
        remove_line_breaks(&mut message);
        let text = Bytes::from(message);
        self.events.push_back(QueuedEvent { number: self.next, text, answer });
        self.next += 1;
        self.drop_read_events(kind);
        if !self.is_attached {
            self.drop_oldest_notifications();
        }
    }

    /// Removes events that were read and need not be kept.
    fn drop_read_events(&mut self, kind: QueueKind) {
        while let Some(first) = self.events.front() {
            let is_kept = kind == QueueKind::Resumable && !self.is_over_limit();
            if first.number >= self.read || is_kept {
                return;
            }
            self.events.pop_front();
        }
    }

    /// Removes the oldest notifications while the limit is exceeded; answers stay.
    fn drop_oldest_notifications(&mut self) {
        while self.is_over_limit() {
            let last = self.events.len() - 1;
            let notification =
                self.events.iter().take(last).position(|event| event.answer.is_none());
            let Some(oldest) = notification else { return };
            self.events.remove(oldest);
        }
    }

    fn is_over_limit(&self) -> bool {
        let sizes = self.events.iter().rev().skip(1).map(|event| event.text.len());
        self.events.len() > MAX_EVENTS || sizes.sum::<usize>() > MAX_BYTES
    }
}

/// The reader of a feed; after it is dropped, a later reader can resume, or the call is cancelled.
#[derive(Debug)]
pub(super) struct EventQueueReader {
    queue: Arc<EventQueue>,
    reader: u64,
    token: Option<CancellationToken>,
}

impl EventQueueReader {
    /// Cancels the call when this reader is dropped.
    pub(super) fn cancel_on_drop(mut self, token: CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) fn queue(&self) -> &Arc<EventQueue> {
        &self.queue
    }

    /// Waits until all answers, or any other message, are ready, but at most for `timeout`.
    pub(super) async fn response_mode(&mut self, timeout: Duration) -> ResponseMode {
        let mut timer = std::pin::pin!(tokio::time::sleep(timeout));
        loop {
            let changed = self.queue.changed.notified();
            {
                let mut state = self.queue.lock();
                if state.events.iter().any(|event| event.answer.is_none()) {
                    return ResponseMode::Stream;
                }
                if state.open == 0 || state.is_closed {
                    let answers = state.events.drain(..);
                    let answers =
                        answers.filter_map(|it| it.answer.map(|status| (status, it.text)));
                    return ResponseMode::Json(answers.collect());
                }
            }
            tokio::select! {
                () = changed => {}
                () = &mut timer => return ResponseMode::Stream,
            }
        }
    }

    /// Waits for at least one event and returns all unread ones; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Vec<QueuedEvent>> {
        loop {
            let changed = self.queue.changed.notified();
            {
                let mut state = self.queue.lock();
                if state.reader != self.reader {
                    return None;
                }
                let from = state.read;
                let ready: Vec<QueuedEvent> =
                    state.events.iter().filter(|event| event.number >= from).cloned().collect();
                if !ready.is_empty() {
                    state.read = state.next;
                    state.drop_read_events(self.queue.kind);
                    drop(state);
                    self.queue.room.notify_waiters();
                    return Some(ready);
                }
                if state.open == 0 || state.is_closed {
                    return None;
                }
            }
            changed.await;
        }
    }
}

impl Drop for EventQueueReader {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if state.reader != self.reader {
            return;
        }
        state.is_attached = false;
        state.is_closed |= self.queue.kind == QueueKind::Once;
        let is_unfinished = state.open > 0;
        drop(state);
        self.queue.room.notify_waiters();
        if let Some(token) = self.token.take().filter(|_| is_unfinished) {
            token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resumable() -> Arc<EventQueue> {
        Arc::new(EventQueue::new(1, QueueKind::Resumable, 1))
    }

    async fn texts(reader: &mut EventQueueReader) -> String {
        let events = reader.next().await.unwrap_or_default();
        let rendered: Vec<_> = events
            .iter()
            .map(|event| format!("{}:{}", event.number, String::from_utf8_lossy(&event.text)))
            .collect();
        rendered.join(" ")
    }

    #[tokio::test]
    async fn a_later_reader_resumes_after_the_given_event() {
        let queue = resumable();
        let mut first = queue.attach(None);
        queue.send(b"a".to_vec()).await.unwrap();
        queue.send(b"b".to_vec()).await.unwrap();
        assert_eq!(texts(&mut first).await, "1:a 2:b");
        drop(first);
        queue.answer(b"c".to_vec(), StatusCode::OK);
        let mut second = queue.attach(Some(1));
        assert_eq!(texts(&mut second).await, "2:b 3:c");
        assert!(second.next().await.is_none());
    }

    #[tokio::test]
    async fn a_new_reader_replaces_the_old_one() {
        let queue = resumable();
        let mut old = queue.attach(None);
        let mut new = queue.attach(None);
        assert!(old.next().await.is_none());
        drop(old);
        queue.send(b"a".to_vec()).await.unwrap();
        assert_eq!(texts(&mut new).await, "1:a");
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_waits_for_an_attached_reader_only() {
        let queue = resumable();
        let mut reader = queue.attach(None);
        for _ in 0..MAX_EVENTS {
            queue.send(b"x".to_vec()).await.unwrap();
        }
        let waiting = tokio::time::timeout(Duration::from_secs(1), queue.send(b"y".to_vec()));
        assert!(waiting.await.is_err());
        assert_eq!(reader.next().await.unwrap().len(), MAX_EVENTS);
        queue.send(b"y".to_vec()).await.unwrap();
        drop(reader);
        for _ in 0..2 * MAX_EVENTS {
            queue.send(b"z".to_vec()).await.unwrap();
        }
        assert_eq!(queue.lock().events.len(), MAX_EVENTS);
    }

    #[tokio::test]
    async fn an_answer_is_kept_when_notifications_are_dropped() {
        let queue = resumable();
        drop(queue.attach(None));
        queue.answer(b"answer".to_vec(), StatusCode::OK);
        for _ in 0..2 * MAX_EVENTS {
            queue.send_lossy(vec![b'x'; 9000]);
        }
        assert!(queue.bytes() <= MAX_BYTES + 9100);
        assert!(texts(&mut queue.attach(None)).await.starts_with("1:answer "));
    }

    #[tokio::test]
    async fn dropping_a_modern_reader_cancels_the_call() {
        let queue = Arc::new(EventQueue::new(0, QueueKind::Once, 1));
        let token = CancellationToken::new();
        drop(queue.attach(None).cancel_on_drop(token.clone()));
        assert!(token.is_cancelled());
        assert_eq!(queue.send(b"a".to_vec()).await, Err(SendError::Gone));
    }

    #[tokio::test]
    async fn answers_without_notifications_need_no_stream() {
        let queue = resumable();
        let mut reader = queue.attach(None);
        queue.answer(b"a".to_vec(), StatusCode::OK);
        let mode = reader.response_mode(Duration::from_secs(1)).await;
        assert!(matches!(mode, ResponseMode::Json(answers) if answers.len() == 1));
    }
}
