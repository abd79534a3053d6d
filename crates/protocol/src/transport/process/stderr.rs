//! Reads a server's stderr: keeps the last 64 KiB for error messages and passes all of it to a log.
//!
//! Nothing is allocated before the server writes.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::system::{self, Stderr};
use crate::redact::Redactor;

/// Gets everything that a server writes to stderr, chunk by chunk. An empty chunk means that a
/// process was started. It is called from an async task, so it must not block.
pub type LogSink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// How many bytes are kept.
const MAX_KEPT: usize = 64 * 1024;

/// After so many bytes the reader yields to other tasks.
pub(super) const YIELD_AFTER: usize = 64 * 1024;

/// The last 64 KiB of a server's stderr; clones see the same text.
///
/// The text is untrusted and may contain control characters.
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug, Default)]
struct Ring {
    bytes: VecDeque<u8>,
    /// Whether bytes before the first one were dropped.
    cut: bool,
    /// How many bytes were appended in all.
    total: u64,
}

impl StderrTail {
    /// Returns the text that is kept. It starts at the start of a line, unless a single line is
    /// longer than what is kept.
    pub fn text(&self) -> String {
        self.text_since(0)
    }

    /// Returns how many bytes the server has written so far, for [`StderrTail::text_since`].
    pub(crate) fn position(&self) -> u64 {
        self.lock().total
    }

    /// Returns the text after a position, as far as it is kept.
    pub(crate) fn text_since(&self, position: u64) -> String {
        let ring = self.lock();
        let kept = ring.bytes.len();
        let written = usize::try_from(ring.total.saturating_sub(position)).unwrap_or(kept);
        let start = match kept.checked_sub(written) {
            Some(start) if position > 0 => start,
            _ if ring.cut => whole_start(&ring.bytes),
            _ => 0,
        };
        let (front, back) = ring.bytes.as_slices();
        let kept = if start < front.len() {
            [&front[start..], back].concat()
        } else {
            back[start - front.len()..].to_vec()
        };
        drop(ring);
        String::from_utf8(kept)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Appends a chunk and drops the oldest bytes that do not fit any more.
    pub(super) fn push(&self, piece: &[u8]) {
        let mut ring = self.lock();
        ring.total += piece.len() as u64;
        let piece = &piece[piece.len().saturating_sub(MAX_KEPT)..];
        let excess = (ring.bytes.len() + piece.len()).saturating_sub(MAX_KEPT);
        if excess > 0 {
            ring.cut = true;
            ring.bytes.drain(..excess);
        }
        ring.bytes.extend(piece);
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns where the first whole line starts; within a single long line, the first whole character.
fn whole_start(bytes: &VecDeque<u8>) -> usize {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) if end + 1 < bytes.len() => end + 1,
        _ => bytes.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count(),
    }
}

/// Everything that a server's stderr is written to.
pub(super) struct StderrSinks {
    pub(super) tail: StderrTail,
    pub(super) log: Option<LogSink>,
}

impl StderrSinks {
    fn write(&self, piece: &[u8]) {
        self.tail.push(piece);
        if let Some(log) = self.log.as_ref().filter(|_| !piece.is_empty()) {
            // A panic of the log must not end the reader: the server would block on a full pipe.
            drop(catch_unwind(AssertUnwindSafe(|| log(piece))));
        }
    }
}

/// The task that reads stderr; dropping the handle ends it.
#[derive(Debug)]
pub(super) struct StderrReader(JoinHandle<()>);

impl StderrReader {
    /// Starts the task.
    pub(super) fn start(
        stderr: Stderr,
        redactor: &Redactor,
        sinks: StderrSinks,
        tracker: &TaskTracker,
    ) -> Self {
        if let Some(log) = &sinks.log {
            log(&[]);
        }
        if redactor.is_empty() {
            return Self(
                tracker.spawn(system::read_stderr(stderr, move |piece| sinks.write(piece))),
            );
        }
        let stream = Mutex::new(redactor.stream());
        Self(tracker.spawn(async move {
            let lock = || stream.lock().unwrap_or_else(PoisonError::into_inner);
            system::read_stderr(stderr, |piece| sinks.write(&lock().push(piece))).await;
            sinks.write(&lock().finish());
        }))
    }

    /// Waits for the end of stderr, at most for `limit`: other processes may keep the pipe open.
    pub(super) async fn finish(&mut self, limit: Duration) {
        if !self.0.is_finished() {
            // An error means that the task panicked, which is not an error for the caller.
            drop(tokio::time::timeout(limit, &mut self.0).await);
        }
    }
}

impl Drop for StderrReader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_KEPT, StderrTail};

    fn tail(pieces: &[&[u8]]) -> StderrTail {
        let tail = StderrTail::default();
        for piece in pieces {
            tail.push(piece);
        }
        tail
    }

    #[test]
    fn short_text_is_kept_unchanged() {
        assert_eq!(tail(&[b"one\ntw", b"o"]).text(), "one\ntwo");
        assert_eq!(tail(&[]).text(), "");
    }

    #[test]
    fn long_text_begins_at_a_line() {
        let line = b"0123456789abcdef\n".repeat(100);
        let tail = tail(&vec![line.as_slice(); 100]);
        let text = tail.text();
        assert!(text.len() > MAX_KEPT - 17 && text.len() <= MAX_KEPT, "{}", text.len());
        assert!(text.lines().all(|line| line == "0123456789abcdef"));
        assert!(tail.lock().bytes.capacity() <= 2 * MAX_KEPT);
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        let text = tail(&["ä".repeat(MAX_KEPT).as_bytes(), b"x"]).text();
        assert!(text.starts_with('ä') && text.ends_with("äx"));
        assert!(!text.contains(char::REPLACEMENT_CHARACTER));
    }

    #[test]
    fn text_after_a_position_is_returned_separately() {
        let tail = tail(&[b"starting\n"]);
        let position = tail.position();
        assert_eq!(tail.text_since(position), "");
        tail.push(b"no such file\n");
        assert_eq!(tail.text_since(position), "no such file\n");
        assert_eq!(tail.text_since(0), "starting\nno such file\n");
        tail.push(&b"0123456789abcdef\n".repeat(10_000));
        assert_eq!(tail.text_since(position), tail.text());
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(tail(&[b"a\xffb"]).text(), "a\u{fffd}b");
    }

    #[test]
    fn nothing_is_allocated_before_output_arrives() {
        assert_eq!(tail(&[]).lock().bytes.capacity(), 0);
        assert!(tail(&[b"a few words"]).lock().bytes.capacity() < 64);
    }
}
