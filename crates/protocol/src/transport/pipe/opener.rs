//! Transports of the program: [`PipeOpener`] opens its own connection to a server.

use std::fmt;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::transport::BoxFuture;
use crate::transport::process::GracePeriod;

/// Opens pipes to one server.
pub trait PipeOpener: Send + Sync + 'static {
    /// Opens a new pipe to the server.
    ///
    /// Called for each attempt: a server that closes the pipe on the modern probe gets a second
    /// pipe for the legacy probe. The future is dropped when the attempt is cancelled or takes too
    /// long.
    fn open(&self) -> BoxFuture<'_, io::Result<Pipe>>;
}

/// A connection to a server: two byte streams with one JSON message per line in each.
///
/// The session owns the pipe. At its end it shuts the writer down, reads until the server ends its
/// output too, at most for a grace period, and then drops everything.
///
/// ```
/// use std::io;
/// use wharf_protocol::transport::{BoxFuture, Pipe, PipeOpener};
///
/// /// A server that listens on a port of this machine.
/// struct Local(u16);
///
/// impl PipeOpener for Local {
///     fn open(&self) -> BoxFuture<'_, io::Result<Pipe>> {
///         Box::pin(async {
///             let stream = tokio::net::TcpStream::connect(("127.0.0.1", self.0)).await?;
///             let (reader, writer) = stream.into_split();
///             Ok(Pipe::new(reader, writer))
///         })
///     }
/// }
/// ```
pub struct Pipe {
    pub(super) name: &'static str,
    pub(super) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) task: Option<BoxFuture<'static, ()>>,
    pub(super) grace: Duration,
}

impl Pipe {
    /// Creates a pipe from the output of the server, and its input.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            name: "pipe",
            reader: Box::new(reader),
            writer: Box::new(writer),
            task: None,
            grace: GracePeriod::default().after_eof,
        }
    }

    /// Runs `task` as long as the pipe: for example the server itself, or the copying of a channel.
    ///
    /// It is a task of the session and is dropped when the session is over. If it ends or panics,
    /// this session ends, and no other.
    #[must_use]
    pub fn with_task(self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { task: Some(Box::pin(task)), ..self }
    }

    /// Sets how long the server and the task may take to end after the session; the default is two
    /// seconds.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Marks the other side as a server in this process.
    #[cfg(feature = "serve")]
    pub(crate) fn in_process(self) -> Self {
        Self { name: "in-process", ..self }
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pipe")
            .field("name", &self.name)
            .field("has_task", &self.task.is_some())
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}
