//! Where a server program serves: on its pipes, or on HTTP until its input ends.

use std::io;
use std::net::SocketAddr;

/// Where to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On stdin and stdout.
    Pipes,
    /// On HTTP at an address.
    Http(SocketAddr),
}

/// The words name no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither nothing nor `--http ADDRESS:PORT`")]
pub struct UnknownPlace(String);

impl Place {
    /// Reads the place from the words of a command line.
    ///
    /// ```
    /// use wharf_testkit::server::Place;
    ///
    /// assert_eq!(Place::of_words(&[]), Ok(Place::Pipes));
    /// assert!(matches!(Place::of_words(&["--http", "127.0.0.1:0"]), Ok(Place::Http(_))));
    /// assert!(Place::of_words(&["--http", "here"]).is_err());
    /// ```
    pub fn of_words(words: &[&str]) -> Result<Self, UnknownPlace> {
        let unknown = || UnknownPlace(words.join(" "));
        match words {
            [] => Ok(Self::Pipes),
            ["--http", address] => address.parse().map(Self::Http).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

/// Waits until nobody can write to stdin any more.
pub async fn input_ended() -> io::Result<()> {
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await.map(drop)
}
