//! An HTTP server on a local port, which runs during its test.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use wharf_protocol::transport::process::{GracePeriod, Process, TaskTracker};

use crate::AnyError;
use crate::server_list::InteropServer;

/// The timeout until a server listens.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(30);
/// The time between attempts to connect.
const RETRY_DELAY: Duration = Duration::from_millis(20);
/// These servers do not read stdin, so they do not notice its end.
const GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::ZERO, after_term: Duration::from_secs(2) };

/// A running server.
pub(crate) struct HttpServerProcess {
    process: Process,
    port: u16,
    tracker: TaskTracker,
}

impl HttpServerProcess {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(server: &InteropServer) -> Result<Self, AnyError> {
        let port = free_port()?;
        let tracker = TaskTracker::new();
        let mut process = Process::start(server.launch(Some(port)), &tracker, None).await?;
        if let Some(mut stdout) = process.take_stdout() {
            // Servers log requests on stdout, and a full pipe would block them.
            tracker.spawn(async move {
                drop(tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await);
            });
        }
        let mut server = Self { process, port, tracker };
        match server.wait_until_listening().await {
            Ok(()) => Ok(server),
            Err(why) => {
                let why = format!("{why}: {}", server.stderr().trim_end());
                server.end().await;
                Err(why.into())
            }
        }
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the last part of the server's stderr.
    pub(crate) fn stderr(&self) -> String {
        self.process.stderr().text()
    }

    /// Ends the server and everything that it started.
    pub(crate) async fn end(self) {
        self.process.end(GRACE).await;
        self.tracker.close();
        self.tracker.wait().await;
    }

    async fn wait_until_listening(&mut self) -> Result<(), AnyError> {
        let deadline = Instant::now() + LISTEN_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            if Instant::now() > deadline {
                return Err(format!("the server does not listen after {LISTEN_TIMEOUT:?}").into());
            }
            if tokio::time::timeout(RETRY_DELAY, self.process.exited()).await.is_ok() {
                return Err("the server exited before it listened".into());
            }
        }
        Ok(())
    }
}

/// Returns a free port. Another process could take it before the server does.
fn free_port() -> Result<u16, AnyError> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
