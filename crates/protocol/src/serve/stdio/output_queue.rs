//! The output queue of stdio: senders add whole lines, one writer writes all available lines.
//!
//! Small lines are combined into one write. Senders wait while too many bytes are queued, so a
//! client that reads slowly limits them.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use crate::serve::client::SendError;
use crate::serve::message_sink::remove_line_breaks;

/// How many bytes may be queued before senders wait.
const SEND_LIMIT: usize = 1 << 20;

/// How many bytes may be queued before notifications are dropped.
const DROP_LIMIT: usize = 16 << 20;

/// Lines are combined into chunks of at most this size.
const CHUNK_SIZE: usize = 16 << 10;

#[derive(Debug, Default)]
pub(crate) struct OutputQueue {
    state: Mutex<QueueState>,
    filled: Notify,
    drained: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
    is_closed: bool,
}

impl OutputQueue {
    /// Adds a line without a limit: for responses, whose number is limited elsewhere.
    pub(crate) fn push(&self, line: Vec<u8>) {
        self.lock().push(line);
        self.filled.notify_one();
    }

    /// Waits until the queue is below its limit, then adds a line.
    pub(crate) async fn send(&self, line: Vec<u8>) -> Result<(), SendError> {
        self.wait_for_room().await;
        let mut state = self.lock();
        if state.is_closed {
            return Err(SendError::Gone);
        }
        state.push(line);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Adds a line, or drops it if too much is queued.
    pub(crate) fn send_lossy(&self, line: Vec<u8>) {
        if self.lock().bytes < DROP_LIMIT {
            self.push(line);
        } else {
            tracing::debug!("client does not read, notification dropped");
        }
    }

    /// Waits until the queue is below its limit or closed.
    pub(crate) async fn wait_for_room(&self) {
        loop {
            let drained = self.drained.notified();
            {
                let state = self.lock();
                if state.bytes < SEND_LIMIT || state.is_closed {
                    return;
                }
            }
            drained.await;
        }
    }

    /// Rejects further lines; queued lines are still written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
        self.drained.notify_waiters();
    }

    /// Writes the queued lines until the queue is closed and empty.
    pub(crate) async fn write_to(&self, mut writer: impl AsyncWrite + Unpin) -> io::Result<()> {
        loop {
            let (chunks, is_closed) = {
                let mut state = self.lock();
                (std::mem::take(&mut state.chunks), state.is_closed)
            };
            if chunks.is_empty() {
                if is_closed {
                    return Ok(());
                }
                self.filled.notified().await;
                continue;
            }
            for chunk in chunks {
                writer.write_all(&chunk).await?;
                self.lock().bytes -= chunk.len();
                self.drained.notify_waiters();
            }
            writer.flush().await?;
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn push(&mut self, mut line: Vec<u8>) {
        remove_line_breaks(&mut line);
        line.push(b'\n');
        self.bytes += line.len();
        match self.chunks.last_mut() {
            Some(last) if last.len() + line.len() <= CHUNK_SIZE => last.append(&mut line),
            _ => self.chunks.push(line),
        }
    }
}
