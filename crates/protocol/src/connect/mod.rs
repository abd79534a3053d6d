//! Makes a [`Peer`] of an address: opens the transport and finds out what the server speaks.
//!
//! Both functions may be dropped at any await; what they started ends with them.

mod error;
mod http;
mod options;
mod probing;
mod stdio;

pub use error::ConnectError;
pub use http::connect_http;
pub use options::{ConnectOptions, HttpFlavor, HttpSpec, StdioSpec};
pub use stdio::connect_stdio;
