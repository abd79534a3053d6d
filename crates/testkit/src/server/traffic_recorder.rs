//! Records every line that a server receives and sends, in order.
//!
//! A line of the client starts with `>`, a line of the server with `<`. A line of the client is
//! written to the file before the server reads it, so a response cannot precede its request.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A file with the messages of a session.
#[derive(Debug, Clone)]
pub struct TrafficRecorder(Arc<Mutex<File>>);

impl TrafficRecorder {
    /// Creates the file.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(|file| Self(Arc::new(Mutex::new(file))))
    }

    /// Records what is read from `input`: the messages of the client.
    pub fn received<R>(&self, input: R) -> RecordedStream<R> {
        RecordedStream { inner: input, mark: b'>', line: Vec::new(), recorder: self.clone() }
    }

    /// Records what is written to `output`: the messages of the server.
    pub fn sent<W>(&self, output: W) -> RecordedStream<W> {
        RecordedStream { inner: output, mark: b'<', line: Vec::new(), recorder: self.clone() }
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line)
    }
}

/// A stream whose lines are recorded.
#[derive(Debug)]
pub struct RecordedStream<P> {
    inner: P,
    mark: u8,
    /// The start of a line that is not complete yet.
    line: Vec<u8>,
    recorder: TrafficRecorder,
}

impl<P> RecordedStream<P> {
    fn record(&mut self, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.is_empty() {
                self.line.push(self.mark);
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.recorder.write(&self.line)?;
                self.line.clear();
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RecordedStream<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        Poll::Ready(self.record(&buffer.filled()[before..]))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for RecordedStream<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.record(&bytes[..written])?;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
