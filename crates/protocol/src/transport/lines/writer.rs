//! Writes lines to the server in order; if the queue is empty, the caller writes to the stdin of a
//! process directly.
//!
//! One lock covers the queue and the pipe, so lines never mix. A single caller writes immediately
//! and saves a task switch; otherwise lines are queued and the driver task writes them in batches.
//! Into any other stream only the driver task writes, because such a stream wakes one task only.
//! A line of which no byte was written can be cancelled, so unsent requests are known.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::stdin_pipe::StdinPipe;
use crate::session::{TraceEvent, Tracer, trace};
use crate::transport::process::Stdin;

/// How many bytes may be queued for a server that does not read.
const MAX_QUEUED_BYTES: usize = 64 << 20;
/// The space to reserve when a second line is queued: more are likely to follow.
const BATCH_SPACE: usize = 32 << 10;
/// The queue's memory is released if it had space for more lines than this.
const KEPT_CAPACITY: usize = 256;

/// Why a line was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// The server's input is closed.
    Closed,
    /// The server does not read, and the queue is full.
    Full,
}

/// Whether to write immediately or to let the driver task batch several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    Immediate,
    Batched,
}

pub(in super::super) struct Writer {
    state: Mutex<WriterState>,
    has_work: Notify,
    tracer: Option<Arc<dyn Tracer>>,
}

struct WriterState {
    input: ServerInput,
    queue: WriteQueue,
}

/// Where the lines go.
enum ServerInput {
    /// The stdin of a process, which any task can write to.
    Stdin(StdinPipe),
    /// A stream that the driver task owns.
    Stream,
    Closed,
}

impl Writer {
    /// Creates a writer for a process's stdin; without one it is closed from the start.
    pub(in super::super) fn to_stdin(
        stdin: Option<Stdin>,
        tracer: Option<Arc<dyn Tracer>>,
    ) -> Self {
        let stdin = stdin.map(StdinPipe::new);
        Self::new(stdin.map_or(ServerInput::Closed, ServerInput::Stdin), tracer)
    }

    /// Creates a writer for a stream, which [`Writer::write_queued_to`] gets.
    pub(in super::super) fn to_stream(tracer: Option<Arc<dyn Tracer>>) -> Self {
        Self::new(ServerInput::Stream, tracer)
    }

    fn new(input: ServerInput, tracer: Option<Arc<dyn Tracer>>) -> Self {
        let state = WriterState { input, queue: WriteQueue::default() };
        Self { state: Mutex::new(state), has_work: Notify::new(), tracer }
    }

    /// Writes or queues one line, which must end with a line end; `id` is that of a request.
    pub(super) fn write_line(
        &self,
        id: Option<u64>,
        line: Vec<u8>,
        mode: WriteMode,
    ) -> Result<(), WriteError> {
        trace(self.tracer.as_ref(), TraceEvent::Sent(&line));
        let mut state = self.state();
        let WriterState { input, queue } = &mut *state;
        if matches!(input, ServerInput::Closed) {
            return Err(WriteError::Closed);
        }
        let was_idle = queue.is_empty();
        if queue.length() + line.len() > MAX_QUEUED_BYTES && !was_idle {
            return Err(WriteError::Full);
        }
        let mut written = 0;
        if mode == WriteMode::Immediate
            && was_idle
            && let ServerInput::Stdin(stdin_pipe) = input
        {
            // The driver gets the same error again and then ends the session.
            written = stdin_pipe.try_write(&line).unwrap_or(0);
            if written == line.len() {
                return Ok(());
            }
        }
        queue.add(id, line);
        queue.remove(written);
        drop(state);
        // The caller of the first queued line has already woken the driver task.
        if was_idle {
            self.has_work.notify_one();
        }
        Ok(())
    }

    /// Removes a request from the queue; `true` if no byte of it was written.
    pub(super) fn cancel_unwritten(&self, id: u64) -> bool {
        self.state().queue.cancel_unwritten(id)
    }

    /// Closes a process's stdin, accepts no more lines, and returns the requests of which no byte
    /// was written.
    pub(in super::super) fn close(&self) -> Vec<u64> {
        let mut state = self.state();
        state.input = ServerInput::Closed;
        let queue = std::mem::take(&mut state.queue);
        queue.lines.into_iter().filter(|it| !it.is_begun).filter_map(|it| it.id).collect()
    }

    /// Writes queued lines to a process, now and later; returns only when the pipe fails.
    ///
    /// Cancel safe: no byte is lost or repeated.
    pub(in super::super) async fn write_queued(&self) -> io::Error {
        loop {
            match self.write_some() {
                Ok(WriteProgress::Idle) => self.has_work.notified().await,
                Ok(WriteProgress::Written) => {}
                Ok(WriteProgress::Blocked(stdin_pipe)) => {
                    if let Err(error) = stdin_pipe.ready().await {
                        return error;
                    }
                }
                Err(error) => return error,
            }
        }
    }

    fn write_some(&self) -> io::Result<WriteProgress> {
        let mut state = self.state();
        let WriterState { input, queue } = &mut *state;
        let (ServerInput::Stdin(stdin_pipe), Some(next)) = (input, queue.next()) else {
            return Ok(WriteProgress::Idle);
        };
        match stdin_pipe.try_write(next) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                queue.remove(written);
                Ok(WriteProgress::Written)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Ok(WriteProgress::Blocked(stdin_pipe.clone()))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes queued lines to a stream, now and later; returns only when the stream fails.
    ///
    /// The stream is flushed whenever nothing is queued. Cancel safe: no byte is lost or repeated.
    pub(in super::super) async fn write_queued_to(
        &self,
        stream: &mut (impl AsyncWrite + Unpin),
    ) -> io::Error {
        let mut is_flushed = true;
        loop {
            // A stream that is always ready would never yield.
            tokio::task::coop::consume_budget().await;
            match poll_fn(|context| self.poll_write_some(context, stream)).await {
                Ok(StreamProgress::Written) => is_flushed = false,
                Ok(StreamProgress::Idle) if is_flushed => self.has_work.notified().await,
                Ok(StreamProgress::Idle) => match stream.flush().await {
                    Ok(()) => is_flushed = true,
                    Err(error) => return error,
                },
                Err(error) => return error,
            }
        }
    }

    fn poll_write_some(
        &self,
        context: &mut Context<'_>,
        stream: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<StreamProgress>> {
        let mut state = self.state();
        let Some(next) = state.queue.next() else { return Poll::Ready(Ok(StreamProgress::Idle)) };
        let written = ready!(Pin::new(stream).poll_write(context, next))?.min(next.len());
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        state.queue.remove(written);
        Poll::Ready(Ok(StreamProgress::Written))
    }

    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum WriteProgress {
    Idle,
    Written,
    Blocked(StdinPipe),
}

enum StreamProgress {
    Idle,
    Written,
}

/// The lines that wait to be written, in order.
///
/// Their bytes are in one buffer, so that one write takes all of them and nothing is copied for it.
#[derive(Default)]
struct WriteQueue {
    /// The bytes of the lines, after some that are written already.
    buffer: Vec<u8>,
    /// How many bytes of the buffer are written.
    written: usize,
    lines: VecDeque<QueuedLine>,
}

struct QueuedLine {
    id: Option<u64>,
    /// How many bytes of it are not written yet.
    left: usize,
    is_begun: bool,
}

impl WriteQueue {
    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns how many bytes are not written yet.
    fn length(&self) -> usize {
        self.buffer.len() - self.written
    }

    fn add(&mut self, id: Option<u64>, line: Vec<u8>) {
        self.lines.push_back(QueuedLine { id, left: line.len(), is_begun: false });
        if self.buffer.is_empty() {
            self.buffer = line;
        } else {
            if self.lines.len() == 2 {
                self.buffer.reserve(line.len().max(BATCH_SPACE));
            }
            self.buffer.extend_from_slice(&line);
        }
    }

    /// Returns the bytes to write; `None` if there are none.
    fn next(&self) -> Option<&[u8]> {
        self.buffer.get(self.written..).filter(|rest| !rest.is_empty())
    }

    /// Removes bytes that were written; at most as many as `next` returned.
    fn remove(&mut self, written: usize) {
        let mut rest = written;
        while let Some(first) = self.lines.front_mut().filter(|_| rest > 0) {
            let part = rest.min(first.left);
            first.left -= part;
            first.is_begun = true;
            rest -= part;
            if first.left == 0 {
                self.lines.pop_front();
            }
        }
        self.written += written;
        self.release_memory();
    }

    /// Removes a line; `true` if it was queued and no byte of it was written.
    fn cancel_unwritten(&mut self, id: u64) -> bool {
        let found = self.lines.iter().position(|it| it.id == Some(id) && !it.is_begun);
        let Some(index) = found else { return false };
        let start = self.written + self.lines.iter().take(index).map(|it| it.left).sum::<usize>();
        if let Some(line) = self.lines.remove(index) {
            self.buffer.drain(start..start + line.left);
        }
        self.release_memory();
        true
    }

    /// Drops written bytes once they are most of the buffer, and all memory that nothing needs.
    fn release_memory(&mut self) {
        if self.lines.is_empty() {
            self.buffer = Vec::new();
            self.written = 0;
            if self.lines.capacity() > KEPT_CAPACITY {
                self.lines = VecDeque::new();
            }
        } else if self.written > self.buffer.len() / 2 {
            self.buffer.drain(..self.written);
            self.written = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of the longest line that is tested.
    const MAX_LENGTH: usize = 20_000;

    /// Writes the whole queue, at most `write` bytes at a time, and returns the text.
    fn written(queue: &mut WriteQueue, write: usize) -> String {
        let mut text = Vec::new();
        while let Some(next) = queue.next() {
            let length = next.len().min(write);
            text.extend_from_slice(&next[..length]);
            queue.remove(length);
        }
        assert!(queue.is_empty() && queue.length() == 0);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn lines_are_batched_into_one_write() {
        let mut queue = WriteQueue::default();
        for id in 0..5 {
            queue.add(Some(id), format!("{id}\n").into_bytes());
        }
        assert_eq!(queue.next(), Some(&b"0\n1\n2\n3\n4\n"[..]));
    }

    #[test]
    fn written_bytes_are_not_kept_although_lines_are_always_queued() {
        let mut queue = WriteQueue::default();
        queue.add(None, vec![b'x'; 1000]);
        for _ in 0..1000 {
            queue.add(None, vec![b'x'; 1000]);
            queue.remove(1000);
            assert!(queue.buffer.len() <= 3000);
        }
        queue.remove(1000);
        assert_eq!(queue.buffer.capacity(), 0);
    }

    #[test]
    fn a_line_is_cancelled_only_if_no_byte_of_it_was_written() {
        let mut queue = WriteQueue::default();
        for (id, line) in [(1, "one\n"), (2, "two\n"), (3, "three\n")] {
            queue.add(Some(id), line.into());
        }
        queue.remove(1);
        assert!(
            !queue.cancel_unwritten(1) && queue.cancel_unwritten(2) && !queue.cancel_unwritten(2)
        );
        assert_eq!(written(&mut queue, 2), "ne\nthree\n");
        assert!(!queue.cancel_unwritten(3));
    }

    proptest! {
        #[test]
        fn lines_that_are_not_cancelled_are_written_once_and_in_order(
            lines in prop::collection::vec((0..MAX_LENGTH, any::<bool>()), 0..12),
            first in 0..3 * MAX_LENGTH,
            write in 1..3 * MAX_LENGTH,
        ) {
            let mut queue = WriteQueue::default();
            for (id, (length, _)) in lines.iter().enumerate() {
                queue.add(Some(id as u64), format!("{id}{}\n", "x".repeat(*length)).into_bytes());
            }
            let mut text = String::new();
            if let Some(next) = queue.next() {
                let part = next[..next.len().min(first)].to_vec();
                queue.remove(part.len());
                text = String::from_utf8(part).unwrap();
            }
            let mut expected = String::new();
            let mut begun = text.len();
            for (id, (length, is_unwanted)) in lines.iter().enumerate() {
                let line = format!("{id}{}\n", "x".repeat(*length));
                let is_taken = *is_unwanted && queue.cancel_unwritten(id as u64);
                prop_assert_eq!(is_taken, *is_unwanted && begun == 0);
                if !is_taken {
                    expected.push_str(&line);
                }
                begun = begun.saturating_sub(line.len());
            }
            text.push_str(&written(&mut queue, write));
            prop_assert_eq!(text, expected);
        }
    }
}
