//! The MCP wire: one peer that speaks to every server there is, and a server core for our own.
//!
//! ```text
//! connect      starts or reaches a server and finds out what it speaks
//! peer         the handle of a connection: requests, lists, calls
//! transport    pipes of a process, Streamable HTTP, HTTP+SSE
//! session      the state that a transport and a peer share: who waits for which answer
//! http_client  HTTP connections, proxies, TLS, redirects
//! view         what is inside results, read leniently
//! era          which revision a server speaks, and what that changes
//! envelope     messages as text, taken apart but never re-encoded
//! redact       secrets taken out of whatever leaves the program
//! serve        a server of both eras around a `Service`
//! ```
//!
//! A module uses only those below it. What comes in is read leniently, item by item; what goes out
//! passes the schema of its revision.

mod connect;
pub mod envelope;
pub mod era;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod http_client;
mod json;
pub mod peer;
pub mod redact;
mod scan;
pub mod serve;
mod session;
pub mod transport;
pub mod view;

pub use connect::{
    ConnectError, ConnectOptions, HttpSpec, HttpTransport, StdioSpec, connect_http, connect_stdio,
};
pub use json::{Json, Members};
pub use peer::Peer;
