//! The way into a server: lines in order, written by the caller when the way is free.
//!
//! One lock covers the queue and the pipe, so lines never mix. A caller that is alone writes at
//! once and saves a task switch; otherwise lines are gathered, and the driver writes them together.
//! A line of which no byte was written can be taken back, which is how we know what was never sent.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::outlet::Outlet;
use crate::session::{TraceEvent, Tracer};
use crate::transport::process::Stdin;

/// How much is gathered into one write.
const BATCH: usize = 64 << 10;
/// How much may wait for a server that does not read.
const BACKLOG: usize = 64 << 20;
/// How many lines may have waited before the room for them is given back.
const FEW: usize = 256;

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// The way in is closed.
    Closed,
    /// Too much is waiting already.
    Full,
}

/// Whether to write at once or to let others add to the same write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Haste {
    Now,
    Together,
}

pub(super) struct Writer {
    state: Mutex<State>,
    wanted: Notify,
    tracer: Option<Arc<dyn Tracer>>,
}

struct State {
    outlet: Option<Outlet>,
    queue: Queue,
}

impl Writer {
    /// Makes a writer into a server's input; without one it is closed from the start.
    pub(super) fn new(stdin: Option<Stdin>, tracer: Option<Arc<dyn Tracer>>) -> Self {
        let state = State { outlet: stdin.map(Outlet::new), queue: Queue::default() };
        Self { state: Mutex::new(state), wanted: Notify::new(), tracer }
    }

    /// Takes one line, which must end in a line end; `id` names the request it is.
    pub(super) fn take(
        &self,
        id: Option<u64>,
        line: Vec<u8>,
        haste: Haste,
    ) -> Result<(), NotTaken> {
        if let Some(tracer) = &self.tracer {
            tracer.record(TraceEvent::Sent(&line));
        }
        let mut state = self.state();
        let State { outlet, queue } = &mut *state;
        let Some(outlet) = outlet else { return Err(NotTaken::Closed) };
        let was_idle = queue.is_empty();
        if queue.bytes + line.len() > BACKLOG && !was_idle {
            return Err(NotTaken::Full);
        }
        let mut written = 0;
        if haste == Haste::Now && was_idle {
            // An error shows again in the driver, which ends the session in order.
            written = outlet.try_write(&line).unwrap_or(0);
            if written == line.len() {
                return Ok(());
            }
        }
        queue.add(id, line);
        queue.remove(written);
        drop(state);
        // Whoever came first has told the driver.
        if was_idle {
            self.wanted.notify_one();
        }
        Ok(())
    }

    /// Takes a request back; `true` if not a byte of it was written.
    pub(super) fn take_back(&self, id: u64) -> bool {
        self.state().queue.take_back(id)
    }

    /// Closes the way in and returns the requests of which no byte was written.
    pub(super) fn close(&self) -> Vec<u64> {
        let mut state = self.state();
        state.outlet = None;
        let queue = std::mem::take(&mut state.queue);
        queue.lines.into_iter().filter(|it| it.written == 0).filter_map(|it| it.id).collect()
    }

    /// Writes whatever is queued, now and later; returns only when the server stops reading for good.
    ///
    /// May be dropped at any await without losing or repeating a byte.
    pub(super) async fn drive(&self) -> io::Error {
        loop {
            match self.write_some() {
                Ok(Progress::Idle) => self.wanted.notified().await,
                Ok(Progress::Written) => {}
                Ok(Progress::Blocked(outlet)) => {
                    if let Err(error) = outlet.ready().await {
                        return error;
                    }
                }
                Err(error) => return error,
            }
        }
    }

    fn write_some(&self) -> io::Result<Progress> {
        let mut state = self.state();
        let State { outlet, queue } = &mut *state;
        let (Some(outlet), Some(next)) = (outlet, queue.next()) else { return Ok(Progress::Idle) };
        let written = outlet.try_write(&next);
        drop(next);
        match written {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                queue.remove(written);
                Ok(Progress::Written)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Ok(Progress::Blocked(outlet.clone()))
            }
            Err(error) => Err(error),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Progress {
    Idle,
    Written,
    Blocked(Outlet),
}

/// The lines that wait to be written, in order.
#[derive(Default)]
struct Queue {
    lines: VecDeque<Queued>,
    /// How many bytes of them are not written yet.
    bytes: usize,
}

struct Queued {
    id: Option<u64>,
    line: Vec<u8>,
    /// How much of it is written.
    written: usize,
}

impl Queued {
    fn rest(&self) -> &[u8] {
        &self.line[self.written..]
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn add(&mut self, id: Option<u64>, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(Queued { id, line, written: 0 });
    }

    /// Returns what is to be written next: one long line, or several short ones put together.
    fn next(&self) -> Option<Cow<'_, [u8]>> {
        let first = self.lines.front()?.rest();
        let fits = |next: &&Queued, batch: &[u8]| batch.len() + next.line.len() <= BATCH;
        let mut more = self.lines.iter().skip(1).peekable();
        if more.peek().is_none_or(|next| !fits(next, first)) {
            return Some(Cow::Borrowed(first));
        }
        let mut batch = Vec::with_capacity(self.bytes.min(BATCH));
        batch.extend_from_slice(first);
        while let Some(next) = more.next_if(|next| fits(next, &batch)) {
            batch.extend_from_slice(next.rest());
        }
        Some(Cow::Owned(batch))
    }

    /// Removes so many bytes, which were written; no more than `next` returned.
    fn remove(&mut self, mut written: usize) {
        self.bytes -= written;
        while let Some(first) = self.lines.front_mut().filter(|_| written > 0) {
            let part = written.min(first.rest().len());
            first.written += part;
            written -= part;
            if first.rest().is_empty() {
                self.lines.pop_front();
            }
        }
        if self.lines.is_empty() && self.lines.capacity() > FEW {
            self.lines = VecDeque::new();
        }
    }

    /// Takes a line out of the queue; `true` if it was there and not a byte of it was written.
    fn take_back(&mut self, id: u64) -> bool {
        let found = self.lines.iter().position(|it| it.id == Some(id) && it.written == 0);
        let taken = found.and_then(|index| self.lines.remove(index));
        self.bytes -= taken.as_ref().map_or(0, |it| it.line.len());
        taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is queued, as text; every `write` takes at most so many bytes.
    fn written(queue: &mut Queue, write: usize) -> String {
        let mut text = Vec::new();
        while let Some(next) = queue.next() {
            let length = next.len().min(write);
            text.extend_from_slice(&next[..length]);
            drop(next);
            queue.remove(length);
        }
        assert!(queue.is_empty() && queue.bytes == 0);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn lines_are_gathered_into_one_write() {
        let mut queue = Queue::default();
        for id in 0..5 {
            queue.add(Some(id), format!("{id}\n").into_bytes());
        }
        let gathered = &b"0\n1\n2\n3\n4\n"[..];
        assert_eq!(queue.next().as_deref(), Some(gathered));
        queue.add(None, vec![b'x'; BATCH]);
        assert_eq!(queue.next().as_deref(), Some(gathered), "a long line is written alone");
    }

    #[test]
    fn a_line_is_taken_back_only_if_no_byte_of_it_was_written() {
        let mut queue = Queue::default();
        for (id, line) in [(1, "one\n"), (2, "two\n"), (3, "three\n")] {
            queue.add(Some(id), line.into());
        }
        queue.remove(1);
        assert!(!queue.take_back(1) && queue.take_back(2) && !queue.take_back(2));
        assert_eq!(written(&mut queue, 2), "ne\nthree\n");
        assert!(!queue.take_back(3));
    }

    proptest! {
        #[test]
        fn what_is_not_taken_back_is_written_once_and_in_order(
            lines in prop::collection::vec((0..BATCH / 3, any::<bool>()), 0..12),
            first in 0..BATCH,
            write in 1..BATCH,
        ) {
            let mut queue = Queue::default();
            for (id, (length, _)) in lines.iter().enumerate() {
                queue.add(Some(id as u64), format!("{id}{}\n", "x".repeat(*length)).into_bytes());
            }
            let mut text = String::new();
            if let Some(next) = queue.next() {
                let part = next[..next.len().min(first)].to_vec();
                drop(next);
                queue.remove(part.len());
                text = String::from_utf8(part).unwrap();
            }
            let mut expected = String::new();
            let mut begun = text.len();
            for (id, (length, is_unwanted)) in lines.iter().enumerate() {
                let line = format!("{id}{}\n", "x".repeat(*length));
                let is_taken = *is_unwanted && queue.take_back(id as u64);
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
