//! The misbehaving servers on HTTP, inside the process of the test.
//!
//! HTTP/1.1 is written by hand on a TCP socket, so that broken HTTP is possible. Each server has a
//! thread and a runtime of its own: it does not care about the clock of the test.

mod events;
mod failures;
mod modern;
mod older;
mod probe;
mod replies;
mod script;
mod serve;
mod sessions;
mod site;
mod streams;
mod told;
mod wire;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use self::site::{Act, Site};
use super::mode::{Era, Mode, Quirk};

pub use self::told::FAILURES;

type Entry = Quirk<Act>;

/// The tables by theme.
const TABLES: &[(&str, &[Entry])] = &[
    ("replies", replies::QUIRKS),
    ("events", events::QUIRKS),
    ("streams", streams::QUIRKS),
    ("failures", failures::QUIRKS),
    ("sessions", sessions::QUIRKS),
    ("probe", probe::QUIRKS),
    ("modern", modern::QUIRKS),
    ("older", older::QUIRKS),
    ("told", told::QUIRKS),
];

static MODES: LazyLock<Vec<Mode>> = LazyLock::new(|| quirks().map(|quirk| quirk.mode).collect());

/// Returns all modes of `HttpQuirk`.
pub fn http_modes() -> &'static [Mode] {
    &MODES
}

/// Returns the themes of the modes.
pub fn http_themes() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(theme, _)| *theme)
}

/// Returns the modes of one theme.
pub fn http_modes_of(theme: &str) -> Vec<Mode> {
    let tables = TABLES.iter().filter(|(name, _)| *name == theme);
    tables.flat_map(|(_, quirks)| *quirks).map(|quirk| quirk.mode).collect()
}

/// What a test can set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// The era to speak, if the mode knows it; otherwise its first.
    pub era: Option<Era>,
    /// How long a mode that waits does so.
    pub delay: Option<Duration>,
    /// How many bytes a mode that floods sends.
    pub bytes: Option<usize>,
}

/// A request that a server got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// `GET`, `POST` or `DELETE`.
    pub verb: String,
    /// The path with the query.
    pub path: String,
    /// The headers in the order they came, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether it came to the second address, where no credential may go.
    pub at_other_origin: bool,
}

impl Seen {
    /// Returns the first header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A misbehaving server; it ends when this is dropped.
#[derive(Debug)]
pub struct HttpQuirk {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    executed: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpQuirk {
    /// Starts the server of a mode on a free port of the loopback address.
    pub fn start(name: &str) -> io::Result<Self> {
        Self::start_with(name, Settings::default())
    }

    /// Starts the server of a mode with settings.
    pub fn start_with(name: &str, settings: Settings) -> io::Result<Self> {
        let quirk = quirks().find(|quirk| quirk.mode.name == name);
        let quirk = quirk.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("there is no mode {name}"))
        })?;
        let eras = quirk.mode.eras;
        let era = settings.era.filter(|era| eras.contains(era)).unwrap_or(eras[0]);
        let (main, other) = (listen()?, listen()?);
        let (address, elsewhere) = (main.local_addr()?, other.local_addr()?);
        let seen = Arc::default();
        let site = Site::new(quirk.act, Settings { era: Some(era), ..settings }, elsewhere);
        let executed = site.executed();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = serve::serve(site, [main, other], Arc::clone(&seen));
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { address, seen, executed, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address of the server for a client.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the socket address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests that came so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl HttpQuirk {
    /// Returns the texts of the calls that were executed so far, each as often as it was; only the
    /// mode `as-told` counts them.
    pub fn executed(&self) -> Vec<String> {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HttpQuirk {
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

fn quirks() -> impl Iterator<Item = &'static Entry> {
    TABLES.iter().flat_map(|(_, quirks)| *quirks)
}
