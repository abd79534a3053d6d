//! The server's stdin, shared by reference, with a non-blocking write.
//!
//! On Unix the write goes directly to the pipe. On other systems it goes through the async runtime:
//! the runtime buffers the bytes and writes them when somebody waits for `ready`.

use std::io;
use std::sync::Arc;

use crate::transport::process::Stdin;

#[cfg(unix)]
#[derive(Clone)]
pub(super) struct StdinPipe(Arc<Stdin>);

#[cfg(unix)]
impl StdinPipe {
    pub(super) fn new(stdin: Stdin) -> Self {
        Self(Arc::new(stdin))
    }

    /// Writes as many bytes as fit without waiting.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// Waits until the pipe accepts more bytes.
    pub(super) async fn ready(&self) -> io::Result<()> {
        self.0.writable().await
    }
}

#[cfg(not(unix))]
#[derive(Clone)]
pub(super) struct StdinPipe(Arc<std::sync::Mutex<Stdin>>);

#[cfg(not(unix))]
impl StdinPipe {
    pub(super) fn new(stdin: Stdin) -> Self {
        Self(Arc::new(std::sync::Mutex::new(stdin)))
    }

    /// Writes as many bytes as the runtime accepts without waiting.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut stdin = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match tokio::io::AsyncWrite::poll_write(
            std::pin::Pin::new(&mut *stdin),
            &mut context,
            bytes,
        ) {
            std::task::Poll::Ready(result) => result,
            std::task::Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Waits until the runtime has written what it buffered.
    pub(super) async fn ready(&self) -> io::Result<()> {
        std::future::poll_fn(|context| {
            let mut stdin = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tokio::io::AsyncWrite::poll_flush(std::pin::Pin::new(&mut *stdin), context)
        })
        .await
    }
}
