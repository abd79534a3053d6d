//! Views: narrowed handles of a runtime, for subagents, sessions and clients of a gateway.
//!
//! A view shows and calls only some servers and tools, has its own approver, limits and call
//! context, and uses the connections of its runtime. A view of a view only narrows: see
//! `scope`. Snapshots and events are about the whole runtime, so a view has none.

use std::fmt;
use std::sync::Arc;

use wharf_config::ServerName;
use wharf_protocol::Json;
use wharf_protocol::view::send::CompletionRequest;
use wharf_protocol::view::{
    Completion, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
};

use crate::arguments::Arguments;
use crate::call::CallError;
use crate::connections::ServerSnapshot;
use crate::execute::{ToolCall, ToolRef};
use crate::runtime::Runtime;
use crate::scope::{Scope, ViewOptions};
use crate::scoped_requests::{CollectedList, ScopedRequests};
use crate::tools::Tool;

/// A narrowed handle of a [`Runtime`].
///
/// A clone is the same view. Making a view connects nothing, and dropping it disconnects nothing.
///
/// ```
/// use wharf::{AllowAll, CallContext, Runtime, ViewOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().start().await?;
/// let readers = runtime.view(
///     ViewOptions::new()
///         .tools(["docs/read_*", "search"])
///         .approver(AllowAll)
///         .context(CallContext::new("agent-7", "research")),
/// );
/// assert!(readers.tools().is_empty());
/// let narrower = readers.view(ViewOptions::new().tools(["search/find"]));
/// # drop(narrower);
/// runtime.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct View {
    runtime: Runtime,
    scope: Arc<Scope>,
}

impl Runtime {
    /// Makes a view of this runtime. Without an approver in the options, calls of the view ask that
    /// of the runtime; with one, it replaces that of the runtime.
    pub fn view(&self, options: ViewOptions) -> View {
        View { runtime: self.clone(), scope: Arc::new(self.0.scope.of_view(options)) }
    }
}

impl View {
    /// Makes a view of this view. It can only narrow: a tool must be allowed by both, the shorter
    /// limits count, and an approver in the options is asked before that of this view, not instead.
    #[must_use]
    pub fn view(&self, options: ViewOptions) -> Self {
        let scope = Arc::new(self.scope.of_narrower_view(options));
        Self { runtime: self.runtime.clone(), scope }
    }

    /// Returns the tools of this view that can be called now, live and cached ones, sorted by name.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        let snapshot = self.runtime.snapshot();
        let all = snapshot.registry().tools().iter();
        all.filter(|tool| self.scope.allows(tool)).cloned().collect()
    }

    /// Returns the servers of this view.
    pub fn servers(&self) -> Vec<Arc<ServerSnapshot>> {
        let snapshot = self.runtime.snapshot();
        let all = snapshot.servers();
        all.filter(|server| self.allows_server(&server.name)).cloned().collect()
    }

    /// Tells whether a tool belongs to this view.
    pub fn allows(&self, tool: &Tool) -> bool {
        self.scope.allows(tool)
    }

    /// Tells whether at least some tools of a server belong to this view.
    pub fn allows_server(&self, server: &ServerName) -> bool {
        self.scope.allows_server(server.as_str())
    }

    /// Makes a call of a tool of this view, see [`Runtime::call`]. A tool that does not belong to
    /// the view is an unknown tool, and its server is not contacted.
    pub fn call<'a>(
        &self,
        tool: impl Into<ToolRef<'a>>,
        arguments: impl Into<Arguments>,
    ) -> ToolCall {
        ToolCall::new(&self.runtime, Arc::clone(&self.scope), tool.into(), arguments.into())
    }

    /// Lists the resources of one server or of all, see [`Runtime::resources`].
    ///
    /// Resources, prompts, completions, instructions and raw requests of a server belong to the
    /// view only if all tools of the server do. A listing of all servers omits the others.
    pub async fn resources(&self, server: Option<&str>) -> CollectedList<Resource> {
        self.requests().resources(server).await
    }

    /// Lists the resource templates of one server or of all, see [`Runtime::resource_templates`].
    pub async fn resource_templates(
        &self,
        server: Option<&str>,
    ) -> CollectedList<ResourceTemplate> {
        self.requests().resource_templates(server).await
    }

    /// Lists the prompts of one server or of all, see [`Runtime::prompts`].
    pub async fn prompts(&self, server: Option<&str>) -> CollectedList<Prompt> {
        self.requests().prompts(server).await
    }

    /// Reads a resource, see [`Runtime::read_resource`].
    ///
    /// # Errors
    /// Those of the runtime; also if not all tools of the server belong to the view. A server
    /// without any tool in the view is an unknown server.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResult, CallError> {
        self.requests().read_resource(server, uri).await
    }

    /// Fetches a prompt, see [`Runtime::get_prompt`].
    ///
    /// # Errors
    /// Those of [`View::read_resource`].
    pub async fn get_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<PromptResult, CallError> {
        self.requests().get_prompt(server, name, arguments).await
    }

    /// Requests completions for an argument of a prompt or of a resource template.
    ///
    /// # Errors
    /// Those of [`View::read_resource`].
    pub async fn complete(
        &self,
        server: &str,
        request: &CompletionRequest,
    ) -> Result<Completion, CallError> {
        self.requests().complete(server, request).await
    }

    /// Subscribes to changes of a resource, see [`Runtime::subscribe_resource`]. Updates are events
    /// of the runtime. Each view has subscriptions of its own, so ending one leaves those of others.
    /// Those of a view whose last clone was dropped are not renewed after a reconnect.
    ///
    /// # Errors
    /// Those of [`View::read_resource`] and of the runtime.
    pub async fn subscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        self.requests().subscribe_resource(server, uri).await
    }

    /// Ends a subscription of this view.
    ///
    /// # Errors
    /// Those of [`View::subscribe_resource`].
    pub async fn unsubscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        self.requests().unsubscribe_resource(server, uri).await
    }

    /// Returns the instructions of connected servers, see [`Runtime::instructions`].
    pub fn instructions(&self) -> Vec<(ServerName, String)> {
        self.requests().instructions()
    }

    /// Sends any request to one server, see [`Runtime::request`].
    ///
    /// # Errors
    /// Those of [`View::read_resource`] and of [`Runtime::request`].
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, CallError> {
        self.requests().raw(server, method, params).await
    }

    /// Returns the requests within the scope of this view.
    fn requests(&self) -> ScopedRequests<'_> {
        ScopedRequests::new(&self.runtime, &self.scope)
    }
}

/// Shows the patterns and the context.
impl fmt::Debug for View {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("View").field("scope", &self.scope).finish_non_exhaustive()
    }
}
