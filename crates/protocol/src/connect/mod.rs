//! Connects to a server: opens the transport, negotiates the revision and returns a [`Peer`].
//!
//! `stdio`, `pipe` and `http` each have one function; the first two share `lines`. Dropping the future
//! ends everything that it started; [`ConnectOptions::tasks`] can be awaited for that.

mod error;
#[cfg(feature = "http")]
mod http;
mod lines;
mod options;
mod pipe;
mod probe;
mod stdio;
#[cfg(test)]
mod tests;

pub use error::ConnectError;
#[cfg(feature = "http")]
pub use http::connect_http;
pub use options::{ConnectOptions, StdioSpec};
#[cfg(feature = "http")]
pub use options::{HttpSpec, HttpTransport};
pub use pipe::connect_pipe;
pub use stdio::connect_stdio;
