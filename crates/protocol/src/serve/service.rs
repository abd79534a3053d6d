//! The trait [`Service`], which implements the content of a server: capabilities and calls.
//!
//! The server core handles both eras of the protocol. The service gets the parameters of each call
//! exactly as the client sent them, and its results are sent unchanged.

use std::sync::Arc;

use bytestring::ByteString;
use futures_util::future::BoxFuture;

use super::client::Client;
use super::headers::ParamHeaders;
use super::request_context::RequestContext;
use super::subscriptions::ServerSubscriptionFilter;
use crate::Json;
use crate::envelope::{Id, RpcError};
use crate::view::send::{encode, object};

/// The future result of a call.
pub type ServiceAnswer = BoxFuture<'static, Result<Json, RpcError>>;

/// The future description of a server.
pub type DescriptionFuture = BoxFuture<'static, ServerDescription>;

/// Answers the calls of clients; see [`McpServer`](super::McpServer) for an example.
///
/// Calls run concurrently. When a call is cancelled, its token fires; if its future is not ready
/// two seconds later, it is dropped. The answer of a cancelled call is discarded.
pub trait Service: Send + Sync + 'static {
    /// Returns the server info; called once.
    fn info(&self) -> ServerInfo;

    /// Returns the capabilities for this client; called for `initialize`, `server/discover` and
    /// `subscriptions/listen`.
    fn describe(self: Arc<Self>, client: Client) -> DescriptionFuture;

    /// Answers a call; for an unknown method with [`RpcError::method_not_found`].
    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer;

    /// Handles a notification of the client that the core does not handle. Must not block.
    fn handle_notification(&self, _notification: ClientNotification) {}

    /// Accepts a subscription, or a part of it; `wanted` is limited to the declared capabilities.
    ///
    /// The subscription ends when the cancellation token of the call fires. Must not block.
    fn accept_subscription(
        &self,
        wanted: ServerSubscriptionFilter,
        _context: &RequestContext,
    ) -> ServerSubscriptionFilter {
        wanted
    }

    /// Handles the end of a legacy session. Must not block.
    fn session_ended(&self, _client: &Client) {}
}

/// A request of a client.
#[derive(Debug, Clone)]
pub struct ServiceCall {
    /// The method.
    pub method: ByteString,
    /// The parameters, unchanged.
    pub params: Option<Json>,
    /// The client, and messages to it during the call.
    pub context: RequestContext,
    /// The `Mcp-Param-*` headers, if the call came over HTTP.
    pub headers: ParamHeaders,
}

impl ServiceCall {
    /// Returns the id of the request.
    pub fn id(&self) -> &Id {
        self.context.id()
    }

    /// Returns a member of the parameters.
    pub fn param(&self, key: &str) -> Option<Json> {
        self.params.as_ref().and_then(|params| params.get(key))
    }
}

/// A notification of a client.
#[derive(Debug, Clone)]
pub struct ClientNotification {
    /// The method.
    pub method: ByteString,
    /// The parameters, unchanged.
    pub params: Option<Json>,
    /// The sender.
    pub client: Client,
}

/// The server info: name, version and other members of `Implementation` in the schema.
#[derive(Debug, Clone)]
pub struct ServerInfo(Json);

impl ServerInfo {
    /// Creates the info from the two required members.
    pub fn new(name: &str, version: &str) -> Self {
        Self(object([("name", Some(encode(name))), ("version", Some(encode(version)))]))
    }

    /// Creates the info from a JSON object, which must have `name` and `version`.
    pub fn from_json(info: Json) -> Self {
        Self(info)
    }

    pub(crate) fn into_json(self) -> Json {
        self.0
    }
}

/// The capabilities and instructions of a server.
#[derive(Debug, Clone)]
pub struct ServerDescription {
    /// The capabilities: a JSON object.
    pub capabilities: Json,
    /// The instructions for the model.
    pub instructions: Option<String>,
}

impl ServerDescription {
    /// Creates a description without instructions.
    pub fn new(capabilities: Json) -> Self {
        Self { capabilities, instructions: None }
    }
}
