//! The way into a server: lines in order, written by the caller when the way is free.
//!
//! One lock covers the queue and the pipe, so lines never mix. A caller that is alone writes at
//! once and saves a task switch; otherwise the driver gathers what is queued into one write. A line
//! of which no byte was written can be taken back, which is how we know what was never sent.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf, Bytes};
use tokio::sync::Notify;

use super::outlet::Outlet;
use crate::transport::process::Stdin;

/// How much is gathered into one write.
const BATCH: usize = 64 << 10;
/// How much may wait for a server that does not read.
const BACKLOG: usize = 64 << 20;

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
}

struct State {
    outlet: Option<Outlet>,
    queue: VecDeque<Queued>,
    bytes: usize,
}

struct Queued {
    id: Option<u64>,
    line: Bytes,
    is_started: bool,
}

impl Writer {
    /// Makes a writer into a server's input; without one it is closed from the start.
    pub(super) fn new(stdin: Option<Stdin>) -> Self {
        let state = State { outlet: stdin.map(Outlet::new), queue: VecDeque::new(), bytes: 0 };
        Self { state: Mutex::new(state), wanted: Notify::new() }
    }

    /// Takes one line, which must end in a line end; `id` names the request it is.
    pub(super) fn take(
        &self,
        id: Option<u64>,
        line: Vec<u8>,
        haste: Haste,
    ) -> Result<(), NotTaken> {
        let mut state = self.state();
        let Some(outlet) = &state.outlet else { return Err(NotTaken::Closed) };
        if state.bytes + line.len() > BACKLOG && !state.queue.is_empty() {
            return Err(NotTaken::Full);
        }
        let mut written = 0;
        if haste == Haste::Now && state.queue.is_empty() {
            // An error shows again in the driver, which ends the session in order.
            written = outlet.try_write(&line).unwrap_or(0);
            if written == line.len() {
                return Ok(());
            }
        }
        let mut line = Bytes::from(line);
        line.advance(written);
        state.bytes += line.len();
        state.queue.push_back(Queued { id, line, is_started: written > 0 });
        drop(state);
        self.wanted.notify_one();
        Ok(())
    }

    /// Takes a request back; `true` if not a byte of it was written.
    pub(super) fn take_back(&self, id: u64) -> bool {
        let mut state = self.state();
        let place = state.queue.iter().position(|it| it.id == Some(id) && !it.is_started);
        let taken = place.and_then(|place| state.queue.remove(place));
        if let Some(queued) = &taken {
            state.bytes -= queued.line.len();
        }
        taken.is_some()
    }

    /// Closes the way in and returns the requests of which no byte was written.
    pub(super) fn close(&self) -> Vec<u64> {
        let mut state = self.state();
        state.outlet = None;
        state.bytes = 0;
        let queue = std::mem::take(&mut state.queue);
        queue.into_iter().filter(|it| !it.is_started).filter_map(|it| it.id).collect()
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
        let Some(outlet) = state.outlet.clone() else { return Ok(Progress::Idle) };
        let Some(first) = state.queue.front() else { return Ok(Progress::Idle) };
        let result = if state.queue.len() == 1 || first.line.len() >= BATCH {
            outlet.try_write(&first.line)
        } else {
            outlet.try_write(&state.gathered())
        };
        match result {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                state.remove(written);
                Ok(Progress::Written)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Ok(Progress::Blocked(outlet))
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

impl State {
    fn gathered(&self) -> Vec<u8> {
        let mut batch = Vec::with_capacity(BATCH.min(self.bytes));
        for queued in &self.queue {
            if !batch.is_empty() && batch.len() + queued.line.len() > BATCH {
                break;
            }
            batch.extend_from_slice(&queued.line);
        }
        batch
    }

    fn remove(&mut self, mut written: usize) {
        self.bytes -= written;
        while written > 0 {
            let Some(first) = self.queue.front_mut() else { return };
            if first.line.len() > written {
                first.line.advance(written);
                first.is_started = true;
                return;
            }
            written -= first.line.len();
            self.queue.pop_front();
        }
    }
}

/// Lets the driver and the callers share one writer.
pub(super) type SharedWriter = Arc<Writer>;
