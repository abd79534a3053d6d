//! Makes a [`Peer`] of an address: opens the transport and finds out what the server speaks.
//!
//! Both functions may be dropped at any await. What they started then ends by itself, and
//! [`ConnectOptions::tasks`] tells when it has.

mod error;
mod http;
mod options;
mod probe;
mod stdio;

pub use error::ConnectError;
pub use http::connect_http;
pub use options::{ConnectOptions, HttpSpec, HttpTransport, StdioSpec};
pub use stdio::connect_stdio;
