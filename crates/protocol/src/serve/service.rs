//! What somebody writes to have a server: a [`Service`] that says what it offers and answers calls.
//!
//! The core around it speaks both eras; the service sees one call after the other with parameters
//! exactly as the client wrote them, and what it returns leaves exactly as it returned it.

use std::sync::Arc;

use bytestring::ByteString;
use futures_util::future::BoxFuture;
use serde::Serialize;

use super::client::Client;
use super::headers::ParamHeaders;
use super::request_context::RequestContext;
use super::subscriptions::ServerSubscriptionFilter;
use crate::Json;
use crate::envelope::{Id, RpcError};

/// The answer to a call, on its way.
pub type ServiceAnswer = BoxFuture<'static, Result<Json, RpcError>>;

/// A description, on its way.
pub type DescriptionFuture = BoxFuture<'static, ServerDescription>;

/// Something that answers calls; see [`McpServer`](super::Server) for an example.
///
/// Calls run at the same time. When a call is cancelled its token fires, and a future that is not
/// done two seconds later is dropped; its answer goes nowhere in either case.
pub trait Service: Send + Sync + 'static {
    /// Says who the server is; asked once.
    fn info(&self) -> ServerInfo;

    /// Says what is offered to this client; asked for `initialize`, `server/discover` and
    /// `subscriptions/listen`.
    fn describe(self: Arc<Self>, client: Client) -> DescriptionFuture;

    /// Answers a call; one for a method it does not know with [`RpcError::method_not_found`].
    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer;

    /// Hears a notification of the client that the core has no use for. Must not block.
    fn handle_notification(&self, _notification: ClientNotification) {}

    /// Agrees to a subscription, or to a part of it, that the offered capabilities allow.
    ///
    /// The subscription lasts until the caller's token is cancelled. Must not block.
    fn accept_subscription(
        &self,
        wanted: ServerSubscriptionFilter,
        _context: &RequestContext,
    ) -> ServerSubscriptionFilter {
        wanted
    }

    /// Hears that a legacy session is over. Must not block.
    fn session_ended(&self, _client: &Client) {}
}

/// A request of a client.
#[derive(Debug, Clone)]
pub struct ServiceCall {
    /// What is wanted.
    pub method: ByteString,
    /// The parameters, as they came.
    pub params: Option<Json>,
    /// Who wants it, and the way back to them while the call lasts.
    pub context: RequestContext,
    /// The `Mcp-Param-*` headers, if the call came over HTTP.
    pub headers: ParamHeaders,
}

impl ServiceCall {
    /// Returns the id the client gave the request.
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
    /// What happened.
    pub method: ByteString,
    /// Its parameters, as they came.
    pub params: Option<Json>,
    /// Who says so.
    pub client: Client,
}

/// Who a server is: name, version and whatever else the schema calls an implementation.
#[derive(Debug, Clone)]
pub struct ServerInfo(Json);

impl ServerInfo {
    /// Makes an info of the two members every server must have.
    pub fn new(name: &str, version: &str) -> Self {
        #[derive(Serialize)]
        struct Plain<'a> {
            name: &'a str,
            version: &'a str,
        }

        Self(Json::encode(&Plain { name, version }).unwrap_or_else(|_| Json::object()))
    }

    /// Makes an info of a whole object, which must have `name` and `version`.
    pub fn from_json(info: Json) -> Self {
        Self(info)
    }

    pub(crate) fn into_json(self) -> Json {
        self.0
    }
}

/// What a server offers.
#[derive(Debug, Clone)]
pub struct ServerDescription {
    /// The capabilities: an object.
    pub capabilities: Json,
    /// What a model should know about the server.
    pub instructions: Option<String>,
}

impl ServerDescription {
    /// Offers `capabilities` without instructions.
    pub fn new(capabilities: Json) -> Self {
        Self { capabilities, instructions: None }
    }
}
