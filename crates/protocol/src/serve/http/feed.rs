//! What one stream is to receive, in order: calls write it, whoever holds the connection reads it.
//!
//! The two ends live apart. In the older era a connection may break and a later one goes on behind
//! the last event it saw, so events are kept for a while; in the modern one a broken connection ends
//! the call. A writer waits for a slow reader, but not for an absent one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::serve::client::SendError;
use crate::serve::outlet::on_one_line;

/// How many events may wait, and how many are kept for somebody who comes back.
const MOST_EVENTS: usize = 256;

/// How many bytes may wait or be kept, beside the newest event.
const MOST_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Feed {
    stream: u64,
    kind: Kind,
    state: Mutex<State>,
    changed: Notify,
    room: Notify,
}

/// Whether a stream can be taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Older era: events have numbers and are kept.
    Resumable,
    /// Modern era: what is read is gone.
    Once,
}

#[derive(Debug)]
struct State {
    events: VecDeque<Event>,
    /// The number of the next event; the first is 1.
    next: u64,
    /// Events below this number have been read.
    read: u64,
    /// How many answers are still to come.
    open: usize,
    reader: u64,
    is_attached: bool,
    is_closed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) text: Bytes,
    /// For an answer: the status it would have as the only one.
    answer: Option<StatusCode>,
}

/// How a stream began.
pub(super) enum Beginning {
    /// All answers are here, and nothing else was said.
    Answers(Vec<(StatusCode, Bytes)>),
    /// There is more to come, so it has to be streamed.
    Stream,
}

impl Feed {
    /// Makes a feed that ends after so many answers.
    pub(super) fn new(stream: u64, kind: Kind, answers: usize) -> Self {
        let state = State {
            events: VecDeque::new(),
            next: 1,
            read: 1,
            open: answers,
            reader: 0,
            // Whoever makes a feed reads it next, so a writer may already wait for them.
            is_attached: answers > 0,
            is_closed: false,
        };
        Self { stream, kind, state: Mutex::new(state), changed: Notify::new(), room: Notify::new() }
    }

    /// Makes a feed that belongs to no call and ends when it is closed.
    pub(super) fn standalone() -> Self {
        let feed = Self::new(0, Kind::Resumable, 1);
        feed.lock().is_attached = false;
        feed
    }

    pub(super) fn stream(&self) -> u64 {
        self.stream
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Writes a message when there is room for it.
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

    /// Writes a message at once; if nobody reads, the oldest news is forgotten.
    pub(crate) fn offer(&self, message: Vec<u8>) {
        let mut state = self.lock();
        if !state.is_closed {
            state.push(message, None, self.kind);
            state.forget_old_news();
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

    /// Says that one answer will not come.
    pub(super) fn forgo(&self) {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Ends the stream; what is written stays readable.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_waiters();
        self.room.notify_waiters();
    }

    /// Tells whether nothing more will be written.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.is_closed || state.open == 0
    }

    /// Returns how much is kept.
    pub(super) fn bytes(&self) -> usize {
        self.lock().events.iter().map(|event| event.text.len()).sum()
    }

    /// Starts reading behind the event `after`, or where the last reader stopped; that reader ends.
    pub(super) fn attach(self: &Arc<Self>, after: Option<u64>) -> FeedReader {
        let mut state = self.lock();
        state.reader += 1;
        state.is_attached = true;
        if let Some(after) = after {
            state.read = after.saturating_add(1).min(state.next);
        }
        let reader = state.reader;
        drop(state);
        self.changed.notify_waiters();
        FeedReader { feed: Arc::clone(self), reader, token: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        let unread = || self.events.iter().filter(|event| event.number >= self.read);
        unread().count() < MOST_EVENTS
            && unread().map(|event| event.text.len()).sum::<usize>() < MOST_BYTES
    }

    fn push(&mut self, mut message: Vec<u8>, answer: Option<StatusCode>, kind: Kind) {
        on_one_line(&mut message);
        let text = Bytes::from(message);
        self.events.push_back(Event { number: self.next, text, answer });
        self.next += 1;
        self.forget_read(kind);
        if !self.is_attached {
            self.forget_old_news();
        }
    }

    /// Forgets what was read and need not be kept.
    fn forget_read(&mut self, kind: Kind) {
        while let Some(first) = self.events.front() {
            let is_kept = kind == Kind::Resumable && !self.is_overfull();
            if first.number >= self.read || is_kept {
                return;
            }
            self.events.pop_front();
        }
    }

    /// Forgets what nobody has read, oldest first; answers stay.
    fn forget_old_news(&mut self) {
        while self.is_overfull() {
            let last = self.events.len() - 1;
            let news = self.events.iter().take(last).position(|event| event.answer.is_none());
            let Some(oldest) = news else { return };
            self.events.remove(oldest);
        }
    }

    fn is_overfull(&self) -> bool {
        let sizes = self.events.iter().rev().skip(1).map(|event| event.text.len());
        self.events.len() > MOST_EVENTS || sizes.sum::<usize>() > MOST_BYTES
    }
}

/// The reading end; dropping it leaves the feed to a later reader, or ends the call.
#[derive(Debug)]
pub(super) struct FeedReader {
    feed: Arc<Feed>,
    reader: u64,
    token: Option<CancellationToken>,
}

impl FeedReader {
    /// Makes the end of this reader the end of the call.
    pub(super) fn cancelling(mut self, token: CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    /// Waits until it is clear whether the answers are all there is, at most for `patience`.
    pub(super) async fn beginning(&mut self, patience: Duration) -> Beginning {
        let mut timer = std::pin::pin!(tokio::time::sleep(patience));
        loop {
            let changed = self.feed.changed.notified();
            {
                let mut state = self.feed.lock();
                if state.events.iter().any(|event| event.answer.is_none()) {
                    return Beginning::Stream;
                }
                if state.open == 0 || state.is_closed {
                    let answers = state.events.drain(..);
                    let answers =
                        answers.filter_map(|it| it.answer.map(|status| (status, it.text)));
                    return Beginning::Answers(answers.collect());
                }
            }
            tokio::select! {
                () = changed => {}
                () = &mut timer => return Beginning::Stream,
            }
        }
    }

    /// Returns the events that are here, after waiting for one; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Vec<Event>> {
        loop {
            let changed = self.feed.changed.notified();
            {
                let mut state = self.feed.lock();
                if state.reader != self.reader {
                    return None;
                }
                let from = state.read;
                let ready: Vec<Event> =
                    state.events.iter().filter(|event| event.number >= from).cloned().collect();
                if !ready.is_empty() {
                    state.read = state.next;
                    state.forget_read(self.feed.kind);
                    drop(state);
                    self.feed.room.notify_waiters();
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

impl Drop for FeedReader {
    fn drop(&mut self) {
        let mut state = self.feed.lock();
        if state.reader != self.reader {
            return;
        }
        state.is_attached = false;
        state.is_closed |= self.feed.kind == Kind::Once;
        let is_unfinished = state.open > 0;
        drop(state);
        self.feed.room.notify_waiters();
        if let Some(token) = self.token.take().filter(|_| is_unfinished) {
            token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resumable() -> Arc<Feed> {
        Arc::new(Feed::new(1, Kind::Resumable, 1))
    }

    async fn texts(reader: &mut FeedReader) -> String {
        let events = reader.next().await.unwrap_or_default();
        let shown: Vec<_> = events
            .iter()
            .map(|event| format!("{}:{}", event.number, String::from_utf8_lossy(&event.text)))
            .collect();
        shown.join(" ")
    }

    #[tokio::test]
    async fn a_later_reader_goes_on_behind_the_event_it_names() {
        let feed = resumable();
        let mut first = feed.attach(None);
        feed.send(b"a".to_vec()).await.unwrap();
        feed.send(b"b".to_vec()).await.unwrap();
        assert_eq!(texts(&mut first).await, "1:a 2:b");
        drop(first);
        feed.answer(b"c".to_vec(), StatusCode::OK);
        let mut second = feed.attach(Some(1));
        assert_eq!(texts(&mut second).await, "2:b 3:c");
        assert!(second.next().await.is_none());
    }

    #[tokio::test]
    async fn a_new_reader_ends_the_old_one() {
        let feed = resumable();
        let mut old = feed.attach(None);
        let mut new = feed.attach(None);
        assert!(old.next().await.is_none());
        drop(old);
        feed.send(b"a".to_vec()).await.unwrap();
        assert_eq!(texts(&mut new).await, "1:a");
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_waits_for_a_slow_reader_but_not_for_an_absent_one() {
        let feed = resumable();
        let mut reader = feed.attach(None);
        for _ in 0..MOST_EVENTS {
            feed.send(b"x".to_vec()).await.unwrap();
        }
        let waiting = tokio::time::timeout(Duration::from_secs(1), feed.send(b"y".to_vec()));
        assert!(waiting.await.is_err());
        assert_eq!(reader.next().await.unwrap().len(), MOST_EVENTS);
        feed.send(b"y".to_vec()).await.unwrap();
        drop(reader);
        for _ in 0..2 * MOST_EVENTS {
            feed.send(b"z".to_vec()).await.unwrap();
        }
        assert_eq!(feed.lock().events.len(), MOST_EVENTS);
    }

    #[tokio::test]
    async fn an_answer_is_kept_however_much_else_is_said() {
        let feed = resumable();
        drop(feed.attach(None));
        feed.answer(b"answer".to_vec(), StatusCode::OK);
        for _ in 0..2 * MOST_EVENTS {
            feed.offer(vec![b'x'; 9000]);
        }
        assert!(feed.bytes() <= MOST_BYTES + 9100);
        assert!(texts(&mut feed.attach(None)).await.starts_with("1:answer "));
    }

    #[tokio::test]
    async fn a_modern_reader_that_goes_takes_the_call_with_it() {
        let feed = Arc::new(Feed::new(0, Kind::Once, 1));
        let token = CancellationToken::new();
        drop(feed.attach(None).cancelling(token.clone()));
        assert!(token.is_cancelled());
        assert_eq!(feed.send(b"a".to_vec()).await, Err(SendError::Gone));
    }

    #[tokio::test]
    async fn answers_alone_need_no_stream() {
        let feed = resumable();
        let mut reader = feed.attach(None);
        feed.answer(b"a".to_vec(), StatusCode::OK);
        let beginning = reader.beginning(Duration::from_secs(1)).await;
        assert!(matches!(beginning, Beginning::Answers(answers) if answers.len() == 1));
    }
}
