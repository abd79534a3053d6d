//! A server of both eras, over two pipes or HTTP: the protocol around a [`Service`].
//!
//! ```text
//! stdio, http   who asks, in which era, and where the answer goes
//! server        what needs no service: discovery, ping, log levels, subscriptions
//! service       everything else: somebody's own code
//! caller, hub   the ways back: within a call, and to everybody
//! ```
//!
//! What the service returns leaves as it is; a modern result only gets what it lacks.

mod asks;
mod caller;
mod claims;
mod client;
mod discover;
mod headers;
mod http;
mod hub;
mod outlet;
mod result;
mod running;
mod server;
mod service;
mod session;
mod stdio;
mod subscribe;
#[cfg(test)]
mod tests;

pub use caller::{Caller, Progress};
pub use claims::missing_capability;
pub use client::{Client, SendError};
pub use headers::{MalformedHeader, ParamHeaders, header_mismatch};
pub use http::{HttpOptions, Token};
pub use hub::Announcer;
pub use server::Server;
pub use service::{Answer, Call, Described, Description, Notice, ServerInfo, Service};
pub use session::SessionId;
pub use subscribe::Filter;
