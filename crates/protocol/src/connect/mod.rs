//! Connects to a server: opens the transport, negotiates the revision and returns a [`Peer`].
//!
//! Both functions are cancel safe: what they started ends by itself when the future is dropped, and
//! [`ConnectOptions::tasks`] can be awaited for that.

mod error;
mod http;
mod options;
mod probe;
mod stdio;

pub use error::ConnectError;
pub use http::connect_http;
pub use options::{ConnectOptions, HttpSpec, HttpTransport, StdioSpec};
pub use stdio::connect_stdio;
