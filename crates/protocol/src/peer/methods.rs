//! One function for each method that a client can call: tools, resources, prompts, MCP completion,
//! logging.

use http::{HeaderName, HeaderValue};

use super::{ListResult, Peer, RequestOptions};
use crate::envelope::code;
use crate::era::{Era, HeaderParameter, Revision};
use crate::session::{RequestError, SessionViolation};
use crate::view::send::{self, CompletionRequest, Object};
use crate::view::{
    Completion, LogLevel, Prompt, PromptResult, ProtocolViolation, ReadResult, RejectedEntry,
    Resource, ResourceTemplate, ToolDefinition, ToolResult, ViolationKind,
};

impl Peer {
    /// Lists all tools. Over HTTP, tools with invalid `x-mcp-header` annotations are rejected.
    pub async fn list_tools(
        &self,
        options: &RequestOptions,
    ) -> Result<ListResult<ToolDefinition>, RequestError> {
        let mut listing: ListResult<ToolDefinition> = self.list("tools/list", options).await?;
        if self.era() == Era::Modern && self.0.connection.transport.has_headers() {
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

    /// Lists all resource templates.
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

    /// Calls a tool; the server never executes the call twice. Input requests of the server are
    /// answered in between.
    ///
    /// A call that was refused for its headers was not executed: the tools are listed again
    /// for their header annotations, and the call is sent once more. If the result is a task,
    /// waits until the task is done. Errors after the first response are
    /// [`RequestError::AfterStart`]: the server has started.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Option<&Object>,
        options: &RequestOptions,
    ) -> Result<ToolResult, RequestError> {
        let params = send::call_tool(name, arguments, None);
        let headers = self.headers_for(name, arguments);
        // Rare futures are boxed, here and below, so that the future of a call stays small: with
        // many concurrent calls, the CPU cache is the limit.
        let mut outcome = self.request_with_input("tools/call", &params, options, &headers).await;
        let is_mismatch = matches!(&outcome, Err(error)
            if error.error_response().is_some_and(|error| error.code == code::HEADER_MISMATCH));
        let has_headers = self.era() == Era::Modern && self.0.connection.transport.has_headers();
        // Without a new list the call would be refused again; then the error stays "not executed".
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

    /// Gets a prompt with its arguments filled in.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &[(String, String)],
        options: &RequestOptions,
    ) -> Result<PromptResult, RequestError> {
        let params = send::get_prompt(name, arguments);
        self.request_with_input("prompts/get", &params, options, &[]).await.map(PromptResult::read)
    }

    /// Requests completions for an argument.
    pub async fn complete(
        &self,
        request: &CompletionRequest,
        options: &RequestOptions,
    ) -> Result<Completion, RequestError> {
        let params = send::complete(request, self.revision());
        let result = self.request("completion/complete", Some(&params), options).await?;
        Ok(Completion::read(result))
    }

    /// Sets the log level: a legacy server gets a request now, a modern server gets the level with
    /// every request from now on.
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

    /// Subscribes to changes of a resource on a legacy server.
    pub async fn subscribe_resource(
        &self,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.legacy_resource("resources/subscribe", uri, options).await
    }

    /// Ends the subscription to a resource on a legacy server.
    pub async fn unsubscribe_resource(
        &self,
        uri: &str,
        options: &RequestOptions,
    ) -> Result<(), RequestError> {
        self.legacy_resource("resources/unsubscribe", uri, options).await
    }

    /// Checks that the server responds; a modern server has no `ping` and gets `server/discover`.
    pub async fn ping(&self, options: &RequestOptions) -> Result<(), RequestError> {
        let method = if self.era() == Era::Modern { "server/discover" } else { "ping" };
        self.request(method, None, options).await.map(drop)
    }

    /// Notifies a legacy server that the roots have changed.
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
        let has_headers = self.0.connection.transport.has_headers();
        let Some(arguments) = arguments.filter(|_| has_headers) else { return Vec::new() };
        let Some(parameters) = self.header_parameters(tool) else { return Vec::new() };
        parameters.iter().filter_map(|it| it.header(arguments.as_json())).collect()
    }

    /// Stores which parameters are repeated in headers, and rejects tools with invalid annotations.
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
                    let violation = format!("tool \"{}\": {bad}", tool.name());
                    self.0.connection.core.violations.add(SessionViolation::Other(violation));
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
