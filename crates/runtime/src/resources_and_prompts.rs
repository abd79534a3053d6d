//! Requests other than tool calls: resources and prompts, MCP completion, log level, instructions.
//!
//! A list is requested from all servers at once; the result has the items and the errors of each
//! server. These requests change nothing on the server, so one that was lost is sent once more.
//! `scoped_requests` sends them, for the runtime and for views.

use wharf_config::ServerName;
use wharf_protocol::peer::{RequestError, RequestOptions};
use wharf_protocol::view::send::CompletionRequest;
use wharf_protocol::view::{
    Completion, LogLevel, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
};
use wharf_protocol::{Json, Peer};

use crate::call::CallError;
use crate::runtime::Runtime;
use crate::scoped_requests::{CollectedList, ScopedRequests};

impl Runtime {
    /// Lists the resources of one server or of all.
    pub async fn resources(&self, server: Option<&str>) -> CollectedList<Resource> {
        self.requests().resources(server).await
    }

    /// Lists the resource templates of one server or of all.
    pub async fn resource_templates(
        &self,
        server: Option<&str>,
    ) -> CollectedList<ResourceTemplate> {
        self.requests().resource_templates(server).await
    }

    /// Lists the prompts of one server or of all.
    pub async fn prompts(&self, server: Option<&str>) -> CollectedList<Prompt> {
        self.requests().prompts(server).await
    }

    /// Reads a resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResult, CallError> {
        self.requests().read_resource(server, uri).await
    }

    /// Fetches a prompt with its arguments filled in.
    pub async fn get_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<PromptResult, CallError> {
        self.requests().get_prompt(server, name, arguments).await
    }

    /// Requests completions for an argument of a prompt or of a resource template.
    pub async fn complete(
        &self,
        server: &str,
        request: &CompletionRequest,
    ) -> Result<Completion, CallError> {
        self.requests().complete(server, request).await
    }

    /// Sets the log level of a server, now and after each reconnect. Its log messages arrive as
    /// [`Event::Log`](crate::Event::Log).
    ///
    /// A server of 2026-07-28 logs only about requests, and nothing until this was called. If this
    /// fails or is dropped, a reconnected server gets the level that was set before.
    pub async fn set_log_level(&self, server: &str, level: LogLevel) -> Result<(), CallError> {
        // The server may reconnect while the request runs, so the level is recorded first.
        let pending_level =
            self.0.shared.host_requests.log_levels.begin_change(&ServerName::new(server), level);
        let send = async |peer: &Peer, options: &RequestOptions| {
            if !peer.profile().capabilities.has_logging() {
                return Err(RequestError::Unsendable("the server does not support logging".into()));
            }
            peer.set_log_level(level, options).await
        };
        self.requests().send_repeatable("logging/setLevel", server, send).await?;
        pending_level.confirm();
        Ok(())
    }

    /// Subscribes to changes of a resource, now and after each reconnect; they arrive as
    /// [`Event::ResourceUpdated`](crate::Event::ResourceUpdated).
    ///
    /// A legacy server has confirmed the subscription when this returns. A server of 2026-07-28
    /// confirms it a moment later.
    ///
    /// # Errors
    /// If the server is not available or rejects the subscription, which is then not kept.
    pub async fn subscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        self.requests().subscribe_resource(server, uri).await
    }

    /// Ends a subscription of the runtime to a resource; those of views stay.
    pub async fn unsubscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        self.requests().unsubscribe_resource(server, uri).await
    }

    /// Sends any request to one server and returns its result unchanged, within the limits of the
    /// server's entry. For methods that this crate has no function for.
    ///
    /// It is sent once: whether it may be repeated is not known. Secrets are redacted in errors,
    /// not in the result.
    ///
    /// # Errors
    /// If the server is not available, or answers with an error. Refused are `tools/call`, because
    /// only [`Runtime::call`] checks approval, and methods whose effects the runtime keeps track of:
    /// `initialize`, `server/discover`, `subscriptions/…`, `resources/subscribe`,
    /// `resources/unsubscribe`, `logging/setLevel`, `tasks/…`, and notifications.
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, CallError> {
        self.requests().raw(server, method, params).await
    }

    /// Returns the instructions of connected servers, for a model's prompt: untrusted text.
    ///
    /// Servers whose entry says `"instructions": false` are omitted.
    pub fn instructions(&self) -> Vec<(ServerName, String)> {
        self.requests().instructions()
    }

    /// Returns the requests of the host itself, which no view limits.
    fn requests(&self) -> ScopedRequests<'_> {
        ScopedRequests::new(self, &self.0.scope)
    }
}
