//! An MCP server of both eras on stdio or HTTP: implements the protocol around a [`Service`].
//!
//! - `stdio`, `http`: the transports; they parse messages, decide the era and send the responses
//! - `in_process`: pipes in memory to clients in the same process
//! - `server`: requests that need no service: `server/discover`, ping, log levels, subscriptions
//! - `service`: the trait for everything else; `tool_service`: the trait made of functions, each a
//!   `function_tool`
//! - `request_context`: the client during one request: notifications, progress, requests to it
//! - `change_notifier`: change notifications to all clients
//!
//! Results of the service are sent unchanged; a modern result only gets its missing members.

mod change_notifier;
mod client;
mod client_meta;
mod client_requests;
mod function_tool;
mod handshake;
mod headers;
#[cfg(feature = "serve-http")]
mod http;
mod in_process;
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
mod tool_service;

pub use change_notifier::ChangeNotifier;
pub use client::{Client, SendError};
pub use client_meta::missing_capability;
pub use function_tool::{FunctionCall, FunctionTool, ToolReply};
pub use headers::{MalformedHeader, ParamHeaders, header_mismatch};
#[cfg(feature = "serve-http")]
pub use http::{BearerToken, HttpServerOptions};
pub use legacy_session::SessionId;
pub use request_context::{CallProgress, RequestContext};
pub use server::McpServer;
pub use service::{
    ClientNotification, DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer,
    ServiceCall,
};
pub use subscriptions::ServerSubscriptionFilter;
pub use tool_service::ToolService;
