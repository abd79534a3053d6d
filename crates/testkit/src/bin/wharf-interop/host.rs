//! A server on a port of this machine, for as long as the visit lasts.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use wharf_protocol::transport::process::{GracePeriod, Process, TaskTracker};

use crate::Failure;
use crate::catalogue::Server;

/// How long a server may take until it listens.
const LIMIT: Duration = Duration::from_secs(30);
/// How often we look whether it does.
const PAUSE: Duration = Duration::from_millis(20);
/// Such servers do not read their input, so its end tells them nothing.
const GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::ZERO, after_term: Duration::from_secs(2) };

/// A running server.
pub(crate) struct Host {
    process: Process,
    port: u16,
    tracker: TaskTracker,
}

impl Host {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(server: &Server) -> Result<Self, Failure> {
        let port = free_port()?;
        let tracker = TaskTracker::new();
        let mut process = Process::start(server.launch(Some(port)), &tracker, None).await?;
        if let Some(mut stdout) = process.take_stdout() {
            // A line per request: unread, the pipe would be full one day.
            tracker.spawn(async move {
                drop(tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await);
            });
        }
        let mut host = Self { process, port, tracker };
        match host.wait().await {
            Ok(()) => Ok(host),
            Err(why) => {
                let why = format!("{why}: {}", host.last_words().trim_end());
                host.end().await;
                Err(why.into())
            }
        }
    }

    /// Returns the address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the end of what the server wrote to its error output.
    pub(crate) fn last_words(&self) -> String {
        self.process.stderr().text()
    }

    /// Ends the server and everything that it started.
    pub(crate) async fn end(self) {
        self.process.end(GRACE).await;
        self.tracker.close();
        self.tracker.wait().await;
    }

    async fn wait(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + LIMIT;
        while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            if Instant::now() > until {
                return Err(format!("does not listen after {LIMIT:?}").into());
            }
            if tokio::time::timeout(PAUSE, self.process.exited()).await.is_ok() {
                return Err("ended before it listened".into());
            }
        }
        Ok(())
    }
}

/// Returns a port that nobody uses; somebody else could take it before the server does.
fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
