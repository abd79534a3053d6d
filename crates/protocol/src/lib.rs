//! The MCP wire: one peer that speaks to every server there is, and a server core for our own.
//!
//! ```text
//! envelope   messages as text, taken apart but never re-encoded
//! era        which revision a server speaks, and what that changes
//! transport  pipes of a process, Streamable HTTP, HTTP+SSE
//! peer       requests, deadlines, cancellation, lists
//! view       what is inside results, read leniently
//! serve      the same turned around
//! redact     secrets taken out of whatever leaves the program
//! ```
//!
//! What comes in is read leniently, item by item; what goes out passes the schema of its revision.

mod connect;
pub mod envelope;
pub mod era;
pub mod fuzz;
mod json;
pub mod peer;
pub mod redact;
mod scan;
pub mod serve;
pub mod transport;
pub mod view;

pub use connect::{
    ConnectError, ConnectOptions, HttpFlavor, HttpSpec, StdioSpec, connect_http, connect_stdio,
};
pub use json::{Json, Members};
pub use peer::Peer;
