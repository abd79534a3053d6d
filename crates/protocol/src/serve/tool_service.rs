//! A [`Service`] made of functions: the tools of a program, without resources and prompts.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::client::Client;
use super::function_tool::{FunctionCall, FunctionTool};
use super::server::McpServer;
use super::service::{
    DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer, ServiceCall,
};
use crate::Json;
use crate::envelope::RpcError;
use crate::view::send::encode;

/// A server whose tools are functions of the program.
///
/// A function that panics, or returns an error, fails that call alone. The arguments are not checked
/// against the schema: a client may do so, but the function must not rely on it.
///
/// ```
/// use serde_json::json;
/// use wharf_protocol::serve::{FunctionCall, FunctionTool, ToolReply, ToolService};
///
/// let double = FunctionTool::new("double", async |call: FunctionCall| {
///     let n: i64 = call.argument("n")?;
///     Ok(ToolReply::text((2 * n).to_string()))
/// });
/// let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// let server = ToolService::new("calculator", "1.0.0")
///     .tool(double.description("Doubles a number.").input_schema(schema).read_only())
///     .into_server();
/// ```
pub struct ToolService {
    info: ServerInfo,
    instructions: Option<String>,
    tools: Vec<FunctionTool>,
}

impl ToolService {
    /// Makes a server without tools. Its name and version are declared to clients.
    pub fn new(name: &str, version: &str) -> Self {
        Self { info: ServerInfo::new(name, version), instructions: None, tools: Vec::new() }
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        Self { instructions: Some(instructions.into()), ..self }
    }

    /// Adds a tool. It replaces one of the same name.
    #[must_use]
    pub fn tool(mut self, tool: FunctionTool) -> Self {
        self.tools.retain(|other| other.name != tool.name);
        self.tools.push(tool);
        self
    }

    /// Makes the server, to be mounted in a runtime or served on a transport.
    pub fn into_server(self) -> McpServer {
        McpServer::new(self)
    }

    async fn call(&self, call: ServiceCall) -> Result<Value, RpcError> {
        let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
        let tool = self.tools.iter().find(|tool| name == tool.name);
        let Some(tool) = tool else {
            return Err(RpcError::invalid_params(format!("there is no tool {name:?}")));
        };
        let arguments = call.param("arguments").unwrap_or_else(Json::object);
        Ok(tool.call(FunctionCall { arguments, context: call.context }).await)
    }
}

impl Service for ToolService {
    fn info(&self) -> ServerInfo {
        self.info.clone()
    }

    fn describe(self: Arc<Self>, _: Client) -> DescriptionFuture {
        let capabilities = encode(&json!({ "tools": {}, "logging": {} }));
        let instructions = self.instructions.clone();
        Box::pin(std::future::ready(ServerDescription { capabilities, instructions }))
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            let result = match call.method.as_ref() {
                "tools/list" => {
                    let revision = call.context.client().revision();
                    let tools = self.tools.iter().map(|tool| tool.definition(revision));
                    json!({ "tools": tools.collect::<Vec<_>>() })
                }
                "tools/call" => self.call(call).await?,
                method => return Err(RpcError::method_not_found(method)),
            };
            Ok(encode(&result))
        })
    }
}

/// Shows the names of the tools.
impl fmt::Debug for ToolService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        formatter.debug_struct("ToolService").field("tools", &names).finish_non_exhaustive()
    }
}
