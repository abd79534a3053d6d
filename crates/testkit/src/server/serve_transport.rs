//! The transport of a server program, from its command line: stdio, or HTTP or a Unix socket until
//! stdin ends.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The transport on which a program serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeTransport {
    /// Stdin and stdout.
    Stdio,
    /// HTTP at an address.
    Http(SocketAddr),
    /// A Unix socket at a path.
    Socket(PathBuf),
}

/// The arguments select no transport.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments `{0}`: expected none, `--http ADDRESS:PORT` or `--socket PATH`")]
pub struct InvalidArguments(String);

impl ServeTransport {
    /// Parses the arguments of a command line.
    ///
    /// ```
    /// use wharf_testkit::server::ServeTransport;
    ///
    /// assert_eq!(ServeTransport::from_arguments(&[]), Ok(ServeTransport::Stdio));
    /// let http = ServeTransport::from_arguments(&["--http", "127.0.0.1:0"]);
    /// assert!(matches!(http, Ok(ServeTransport::Http(_))));
    /// assert!(ServeTransport::from_arguments(&["--http", "here"]).is_err());
    /// ```
    pub fn from_arguments(arguments: &[&str]) -> Result<Self, InvalidArguments> {
        let invalid = || InvalidArguments(arguments.join(" "));
        match arguments {
            [] => Ok(Self::Stdio),
            ["--http", address] => address.parse().map(Self::Http).map_err(|_| invalid()),
            ["--socket", path] => Ok(Self::Socket(PathBuf::from(path))),
            _ => Err(invalid()),
        }
    }
}

/// Waits until stdin ends; ignores what is read from it.
pub async fn input_ended() -> io::Result<()> {
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await.map(drop)
}
