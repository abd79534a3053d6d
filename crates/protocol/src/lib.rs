//! The MCP protocol: a client peer for every revision and transport, and a server core.
//!
//! ```text
//! connect      starts or reaches a server and negotiates the protocol revision
//! peer         the handle of a connection: requests, lists, calls
//! transport    pipes of a process or of the program, Streamable HTTP, HTTP+SSE
//! session      the state that a transport and a peer share: pending requests, limits, errors
//! http_client  HTTP connections, proxies, TLS, redirects
//! view         the contents of params and results, read leniently
//! era          the revision that a server speaks, and what depends on it
//! envelope     JSON-RPC messages; params and results stay text and are not re-encoded
//! json, redact JSON values as text; secrets redacted in every text that leaves the program
//! scan         finds the ends of JSON values, and checks the grammar
//!
//! serve        beside connect and peer: a server of both eras around a `Service`
//! ```
//!
//! The features `http`, `tls`, `serve` and `serve-http` choose the transports; all are on by default.
//! Without them, there are servers on stdio and on pipes of the program.
//!
//! A module uses only the modules below it. Incoming messages are read leniently, item by item;
//! outgoing messages match the schema of their revision.

#![warn(missing_debug_implementations)]

mod connect;
pub mod envelope;
pub mod era;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(feature = "http")]
mod http_client;
mod json;
pub mod peer;
pub mod redact;
mod scan;
#[cfg(feature = "serve")]
pub mod serve;
mod session;
pub mod third_party;
pub mod transport;
pub mod view;

pub use connect::{ConnectError, ConnectOptions, StdioSpec, connect_pipe, connect_stdio};
#[cfg(feature = "http")]
pub use connect::{HttpSpec, HttpTransport, connect_http};
pub use json::{Json, Members};
pub use peer::Peer;
