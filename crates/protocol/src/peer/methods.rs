//! One function for each question that a client can ask; the words depend on the revision.

use http::{HeaderName, HeaderValue};

use super::{ListResult, Peer, RequestOptions};
use crate::envelope::code;
use crate::era::{Era, HeaderParameter, Revision};
use crate::session::{RequestError, Warning};
use crate::transport::ClientTransport;
use crate::view::send::{self, CompletionRequest, Object};
use crate::view::{
    Completion, DiscoverResult, LogLevel, Prompt, PromptResult, ProtocolViolation, ReadResult,
    RejectedEntry, Resource, ResourceTemplate, ToolDefinition, ToolResult, ViolationKind,
};

impl Peer {
    /// Lists all tools. Over HTTP, tools with header marks that cannot be followed are set aside.
    pub async fn list_tools(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<ToolDefinition>, RequestError> {
        let mut listing: ListResult<ToolDefinition> = self.list("tools/list", options).await?;
        if self.era() == Era::Modern
            && matches!(self.0.connection.transport, ClientTransport::StreamableHttp(_))
        {
            self.learn_header_parameters(&mut listing);
        }
        Ok(listing)
    }

    /// Lists all resources.
    pub async fn list_resources(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<Resource>, RequestError> {
        self.list("resources/list", options).await
    }

    /// Lists all templates of resources.
    pub async fn list_resource_templates(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<ResourceTemplate>, RequestError> {
        self.list("resources/templates/list", options).await
    }

    /// Lists all prompts.
    pub async fn list_prompts(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<Prompt>, RequestError> {
        self.list("prompts/list", options).await
    }

    /// Calls a tool once, whatever happens; answers questions of the server in between.
    ///
    /// A request that was refused for its headers was not executed: the tools are listed again, for
    /// what they say about headers, and the call is sent once more. An answer that promises a task
    /// is awaited until the task is done. What goes wrong after the first answer is
    /// [`RequestError::AfterStart`]: the server has begun.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Option<&Object>,
        options: &RequestOptions,
    ) -> Result<ToolResult, RequestError> {
        let params = send::call_tool(name, arguments, None);
        let headers = self.headers_for(name, arguments);
        // What rarely happens is boxed, here and below, so that a call in flight stays small: with
        // many of them the processor's cache is what limits us.
        let mut outcome = self.request_with_input("tools/call", &params, options, &headers).await;
        let is_mismatch = matches!(&outcome, Err(error)
            if error.refusal().is_some_and(|error| error.code == code::HEADER_MISMATCH));
        let has_headers = self.era() == Era::Modern
            && matches!(self.0.connection.transport, ClientTransport::StreamableHttp(_));
        // Without a new list the call would be refused again; the refusal says that it did not run.
        if is_mismatch && has_headers && Box::pin(self.list_tools(options)).await.is_ok() {
            let headers = self.headers_for(name, arguments);
            outcome =
                Box::pin(self.request_with_input("tools/call", &params, options, &headers)).await;
        }
        let result = self.await_task("tools/call", outcome?, options).await?;
        Ok(ToolResult::read(result))
    }

    /// Reads a resource.
    pub async fn read_resource(
        &self,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<ReadResult, RequestError> {
        let params = send::resource(uri);
        self.request_with_input("resources/read", &params, options, &[]).await.map(ReadResult::read)
    }

    /// Fetches a prompt with its arguments filled in.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &[(String, String)],
        options: &RequestOptions,
    ) -> Result<PromptResult, RequestError> {
        let params = send::get_prompt(name, arguments);
        self.request_with_input("prompts/get", &params, options, &[]).await.map(PromptResult::read)
    }

    /// Asks how an argument could go on.
    pub async fn complete(
        &self,
        request: &CompletionRequest,
        options: &RequestOptions,
    ) -> Result<Completion, RequestError> {
        let params = send::complete(request, self.revision());
        let result = self.request("completion/complete", Some(&params), options).await?;
        Ok(Completion::read(result))
    }

    /// Says how much the server should log: a legacy one is told now, a modern one with every
    /// request from now on.
    pub async fn set_log_level(
        &self,
        level: LogLevel,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        if self.era() == Era::Modern {
            self.0.meta_writer.set_log_level(level);
            return Ok(());
        }
        let params = send::set_level(level);
        self.request("logging/setLevel", Some(&params), options).await.map(drop)
    }

    /// Asks a legacy server to tell when a resource changes.
    pub async fn subscribe_resource(
        &self,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.legacy_resource("resources/subscribe", uri, options).await
    }

    /// Asks a legacy server to stop telling about a resource.
    pub async fn unsubscribe_resource(
        &self,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.legacy_resource("resources/unsubscribe", uri, options).await
    }

    /// Asks whether the server is there; a modern one has no `ping` and is asked who it is.
    pub async fn ping(&self, options: &RequestOptions) -> Result<(), RequestError> {
        let method = if self.era() == Era::Modern { "server/discover" } else { "ping" };
        self.request(method, None, options).await.map(drop)
    }

    /// Asks a modern server again what it offers.
    pub async fn discover(&self, options: &RequestOptions) -> Result<DiscoverResult, RequestError> {
        if self.era() == Era::Legacy {
            return Err(RequestError::Unsendable("the server's revision has no discovery".into()));
        }
        self.request("server/discover", None, options).await.map(DiscoverResult::read)
    }

    /// Tells a legacy server that the folders have changed.
    pub async fn notify_roots_changed(&self) -> Result<(), RequestError> {
        if self.era() == Era::Modern {
            return Ok(());
        }
        self.notify("notifications/roots/list_changed", None).await
    }

    async fn legacy_resource(
        &self,
        method: &str,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        if self.era() == Era::Modern {
            return Err(only_legacy(method));
        }
        self.request(method, Some(&send::resource(uri)), options).await.map(drop)
    }

    fn headers_for(
        &self,
        tool: &str,
        arguments: Option<&Object>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let (ClientTransport::StreamableHttp(_), Some(arguments)) =
            (&self.0.connection.transport, arguments)
        else {
            return Vec::new();
        };
        let Some(parameters) = self.header_parameters(tool) else { return Vec::new() };
        parameters.iter().filter_map(|it| it.header(arguments.as_json())).collect()
    }

    /// Remembers which parameters are repeated in headers, and drops tools that get it wrong.
    fn learn_header_parameters(&self, listing: &mut ListResult<ToolDefinition>) {
        let mut header_parameters = std::collections::HashMap::new();
        let (items, rejected) = (&mut listing.items, &mut listing.rejected);
        items.retain(|tool| {
            let marks = tool.input_schema().map_or(Ok(Vec::new()), |it| HeaderParameter::read(&it));
            match marks {
                Ok(marks) if marks.is_empty() => true,
                Ok(marks) => {
                    header_parameters.insert(tool.name().to_string(), marks.into());
                    true
                }
                Err(bad) => {
                    let warning = format!("tool \"{}\": {bad}", tool.name());
                    self.0.connection.core.warnings.add(Warning::Other(warning));
                    let why = ProtocolViolation {
                        subject: Some(tool.name().clone()),
                        within: "inputSchema",
                        part: "x-mcp-header",
                        kind: ViolationKind::Unknown,
                    };
                    rejected.push(RejectedEntry { raw: tool.raw().clone(), why });
                    false
                }
            }
        });
        self.0.set_header_parameters(header_parameters);
    }
}

fn only_legacy(method: &str) -> RequestError {
    RequestError::Unsendable(format!("`{method}` does not exist since {}", Revision::V2026_07_28))
}
