//! A [`Service`] made of functions: the tools of a program, without resources and prompts.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Value, json};

use super::client::Client;
use super::server::McpServer;
use super::service::{
    DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer, ServiceCall,
};
use crate::Json;
use crate::envelope::RpcError;
use crate::era::Revision;
use crate::transport::BoxFuture;
use crate::view::send::encode;

type ToolFunction =
    Box<dyn Fn(Json) -> BoxFuture<'static, Result<ToolReply, String>> + Send + Sync>;

/// A server whose tools are functions of the program.
///
/// A function that panics, or returns an error, fails that call alone. The arguments are not checked
/// against the schema: a client may do so, but the function must not rely on it.
///
/// ```
/// use serde_json::json;
/// use wharf_protocol::serve::{ToolReply, ToolService};
///
/// let server = ToolService::new("calculator", "1.0.0")
///     .tool(
///         "double",
///         "Doubles a number.",
///         json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }),
///         async |arguments| {
///             let n = arguments.get("n").and_then(|n| n.to::<i64>()).ok_or("\"n\" is missing")?;
///             Ok(ToolReply::text((2 * n).to_string()))
///         },
///     )
///     .into_server();
/// ```
pub struct ToolService {
    info: ServerInfo,
    instructions: Option<String>,
    tools: Vec<ServedTool>,
}

struct ServedTool {
    name: String,
    definition: Value,
    function: ToolFunction,
}

/// What a function of a [`ToolService`] returns.
#[derive(Debug, Clone)]
pub struct ToolReply {
    text: String,
    structured: Option<Json>,
}

impl ToolReply {
    /// Replies with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None }
    }

    /// Replies with a JSON object. Clients of older revisions get its text.
    pub fn structured(value: Json) -> Self {
        Self { text: value.as_str().to_owned(), structured: Some(value) }
    }
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

    /// Adds a tool with its JSON schema of the arguments. It replaces one of the same name.
    ///
    /// An error of the function is shown to the model, which can correct its arguments.
    #[must_use]
    pub fn tool<F, R>(
        self,
        name: &str,
        description: &str,
        input_schema: impl Into<Value>,
        function: F,
    ) -> Self
    where
        F: Fn(Json) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolReply, String>> + Send + 'static,
    {
        let schema = input_schema.into();
        self.add(
            json!({ "name": name, "description": description, "inputSchema": schema }),
            function,
        )
    }

    /// Adds a tool that only reads, as [`ToolService::tool`]: its annotations say so.
    #[must_use]
    pub fn read_only_tool<F, R>(
        self,
        name: &str,
        description: &str,
        input_schema: impl Into<Value>,
        function: F,
    ) -> Self
    where
        F: Fn(Json) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolReply, String>> + Send + 'static,
    {
        let schema = input_schema.into();
        let definition = json!({
            "name": name,
            "description": description,
            "inputSchema": schema,
            "annotations": { "readOnlyHint": true },
        });
        self.add(definition, function)
    }

    /// Makes the server, to be mounted in a runtime or served on a transport.
    pub fn into_server(self) -> McpServer {
        McpServer::new(self)
    }

    fn add<F, R>(mut self, definition: Value, function: F) -> Self
    where
        F: Fn(Json) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolReply, String>> + Send + 'static,
    {
        let name = definition["name"].as_str().unwrap_or_default().to_owned();
        self.tools.retain(|tool| tool.name != name);
        let function: ToolFunction = Box::new(move |arguments| Box::pin(function(arguments)));
        self.tools.push(ServedTool { name, definition, function });
        self
    }

    async fn call(&self, call: &ServiceCall) -> Result<Value, RpcError> {
        let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
        let tool = self.tools.iter().find(|tool| name == tool.name);
        let Some(tool) = tool else {
            return Err(RpcError::invalid_params(format!("there is no tool {name:?}")));
        };
        let arguments = call.param("arguments").unwrap_or_else(Json::object);
        let reply = (tool.function)(arguments).await;
        Ok(match reply {
            Ok(reply) => {
                let mut result = json!({ "content": [text_block(&reply.text)] });
                let has_structured = call.context.client().revision() >= Revision::V2025_06_18;
                if let Some(structured) = reply.structured.filter(|_| has_structured) {
                    result["structuredContent"] = json!(structured);
                }
                result
            }
            Err(error) => json!({ "content": [text_block(&error)], "isError": true }),
        })
    }
}

impl Service for ToolService {
    fn info(&self) -> ServerInfo {
        self.info.clone()
    }

    fn describe(self: Arc<Self>, _: Client) -> DescriptionFuture {
        let capabilities = encode(&json!({ "tools": {} }));
        let instructions = self.instructions.clone();
        Box::pin(std::future::ready(ServerDescription { capabilities, instructions }))
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            let result = match call.method.as_ref() {
                "tools/list" => {
                    let tools: Vec<&Value> =
                        self.tools.iter().map(|tool| &tool.definition).collect();
                    json!({ "tools": tools })
                }
                "tools/call" => self.call(&call).await?,
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

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
