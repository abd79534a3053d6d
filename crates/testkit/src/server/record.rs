//! Writes down every line that a server receives and sends, in the order in which it happens.
//!
//! A line that the client wrote is marked with `>`, one of the server with `<`. A line is on file
//! before the server sees it, so no answer can stand before its question.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A file that a conversation is written to.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Mutex<File>>);

impl Recorder {
    /// Begins a new file.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(|file| Self(Arc::new(Mutex::new(file))))
    }

    /// Records what is read from `input`: the words of the client.
    pub fn received<R>(&self, input: R) -> Tee<R> {
        Tee { inner: input, mark: b'>', line: Vec::new(), recorder: self.clone() }
    }

    /// Records what is written to `output`: the words of the server.
    pub fn sent<W>(&self, output: W) -> Tee<W> {
        Tee { inner: output, mark: b'<', line: Vec::new(), recorder: self.clone() }
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line)
    }
}

/// A pipe whose lines are recorded.
#[derive(Debug)]
pub struct Tee<P> {
    inner: P,
    mark: u8,
    /// The begin of a line whose end has not come yet.
    line: Vec<u8>,
    recorder: Recorder,
}

impl<P> Tee<P> {
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.is_empty() {
                self.line.push(self.mark);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.recorder.write(&self.line)?;
                self.line.clear();
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Tee<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        Poll::Ready(self.keep(&buffer.filled()[before..]))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Tee<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.keep(&bytes[..written])?;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
