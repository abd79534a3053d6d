//! The HTTP servers with quirks, which run inside the process of the test.
//!
//! HTTP/1.1 is written by hand on a TCP socket, so that invalid HTTP is possible. Each server has
//! its own thread and Tokio runtime, so the paused clock of a test does not affect it. There is one
//! table per theme; a quirk is one entry of a table. `server` is the correct server that a quirk
//! changes, `steps` are the actions on a connection, `connections` accepts and executes them.

mod connections;
mod events;
mod failures;
mod http_sse;
mod json_responses;
mod modern;
mod probe;
mod request;
mod requested_failures;
mod server;
mod sessions;
mod steps;
mod streams;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use self::server::{HttpBehavior, HttpServer};
use super::mode::{QuirkEntry, QuirkEra, QuirkMode};

pub use self::requested_failures::REQUESTED_FAILURES;

type HttpQuirk = QuirkEntry<HttpBehavior>;

/// The tables by theme.
const TABLES: &[(&str, &[HttpQuirk])] = &[
    ("json_responses", json_responses::QUIRKS),
    ("events", events::QUIRKS),
    ("streams", streams::QUIRKS),
    ("failures", failures::QUIRKS),
    ("sessions", sessions::QUIRKS),
    ("probe", probe::QUIRKS),
    ("modern", modern::QUIRKS),
    ("http_sse", http_sse::QUIRKS),
    ("requested_failures", requested_failures::QUIRKS),
];

static MODES: LazyLock<Vec<QuirkMode>> =
    LazyLock::new(|| quirks().map(|quirk| quirk.mode).collect());

/// Returns all modes of [`HttpQuirkServer`].
pub fn http_modes() -> &'static [QuirkMode] {
    &MODES
}

/// Returns the themes of the modes.
pub fn http_themes() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(theme, _)| *theme)
}

/// Returns the modes of one theme.
pub fn http_modes_of(theme: &str) -> Vec<QuirkMode> {
    let tables = TABLES.iter().filter(|(name, _)| *name == theme);
    tables.flat_map(|(_, quirks)| *quirks).map(|quirk| quirk.mode).collect()
}

/// The options that a test can set.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpQuirkOptions {
    /// The era, if the mode supports it; otherwise its first era is used.
    pub era: Option<QuirkEra>,
    /// The delay of a mode that waits.
    pub delay: Option<Duration>,
    /// The number of bytes of a mode that sends many.
    pub bytes: Option<usize>,
}

/// An HTTP request that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// `GET`, `POST` or `DELETE`.
    pub http_method: String,
    /// The path with the query.
    pub path: String,
    /// The headers in the order of arrival; names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether it was sent to the second address, which must not get credentials.
    pub at_other_origin: bool,
}

impl RecordedRequest {
    /// Returns the first header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A server with a quirk; it stops when this is dropped.
#[derive(Debug)]
pub struct HttpQuirkServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<RecordedRequest>>>,
    executed: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpQuirkServer {
    /// Starts the server of a mode on a free port of the loopback address.
    pub fn start(name: &str) -> io::Result<Self> {
        Self::start_with(name, HttpQuirkOptions::default())
    }

    /// Starts the server of a mode with options.
    pub fn start_with(name: &str, options: HttpQuirkOptions) -> io::Result<Self> {
        let quirk = quirks().find(|quirk| quirk.mode.name == name);
        let quirk = quirk.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("there is no mode {name}"))
        })?;
        let eras = quirk.mode.eras;
        let era = options.era.filter(|era| eras.contains(era)).unwrap_or(eras[0]);
        let (main, other) = (listen()?, listen()?);
        let (address, other_origin) = (main.local_addr()?, other.local_addr()?);
        let received = Arc::default();
        let server = HttpServer::new(
            quirk.behavior,
            HttpQuirkOptions { era: Some(era), ..options },
            other_origin,
        );
        let executed = server.executed();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = connections::serve(server, [main, other], Arc::clone(&received));
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { address, received, executed, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the socket address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests that were received so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the texts of the calls that were executed so far, with repetitions; only the mode
    /// `as-told` records them.
    pub fn executed(&self) -> Vec<String> {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HttpQuirkServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended by itself.
            let _ignored = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn quirks() -> impl Iterator<Item = &'static HttpQuirk> {
    TABLES.iter().flat_map(|(_, quirks)| *quirks)
}
