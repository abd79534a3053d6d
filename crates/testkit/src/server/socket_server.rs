//! Serves every connection to a Unix socket, until stdin ends.

use std::io;
use std::path::Path;

#[cfg(unix)]
use super::input_ended;

/// A socket that is listened on.
#[cfg(unix)]
#[derive(Debug)]
pub struct SocketServer(tokio::net::UnixListener);

#[cfg(unix)]
impl SocketServer {
    /// Listens on a path that does not exist yet.
    pub fn listen(path: &Path) -> io::Result<Self> {
        tokio::net::UnixListener::bind(path).map(Self)
    }

    /// Runs `serve` for each connection; returns when stdin ends.
    pub async fn run<F>(self, serve: impl Fn(tokio::net::UnixStream) -> F) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut connections = tokio::task::JoinSet::new();
        let mut ended = std::pin::pin!(input_ended());
        loop {
            tokio::select! {
                ended = &mut ended => return ended,
                accepted = self.0.accept() => {
                    connections.spawn(serve(accepted?.0));
                }
            }
        }
    }
}

/// Unix sockets exist on Unix only.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct SocketServer(());

#[cfg(not(unix))]
impl SocketServer {
    /// Fails: there are no Unix sockets.
    pub fn listen(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "Unix sockets exist on Unix only"))
    }

    /// Returns at once: there is no such value.
    pub async fn run<F>(self, _: impl Fn(tokio::io::DuplexStream) -> F) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        std::future::ready(Ok(())).await
    }
}
