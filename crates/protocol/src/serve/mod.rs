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

mod change_notifier;
mod client;
mod client_meta;
mod client_requests;
mod handshake;
mod headers;
mod http;
mod legacy_session;
mod message_sink;
mod request_context;
mod result_shape;
mod running_calls;
mod server;
mod service;
mod stdio;
mod subscriptions;
#[cfg(test)]
mod tests;

pub use change_notifier::ChangeNotifier;
pub use client::{Client, SendError};
pub use client_meta::missing_capability;
pub use headers::{MalformedHeader, ParamHeaders, header_mismatch};
pub use http::{BearerToken, HttpServerOptions};
pub use legacy_session::SessionId;
pub use request_context::{CallProgress, RequestContext};
pub use server::McpServer;
pub use service::{
    ClientNotification, DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer,
    ServiceCall,
};
pub use subscriptions::ServerSubscriptionFilter;
