//! The MCP service: lists the tool and answers its calls, as the client's revision allows.
//!
//! One service has one history of thoughts, and each connection has its own service.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::era::Revision;
use wharf_protocol::serve::{
    Client, DescriptionFuture, McpServer, ServerDescription, ServerInfo, Service, ServiceAnswer,
    ServiceCall,
};

use super::history::ThoughtHistory;
use super::thought::Thought;
use super::tool;

/// Serves one client on two pipes until its input ends.
///
/// Fails if reading or writing fails. The history is lost when this returns or is dropped.
pub async fn serve<R, W>(input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    McpServer::new(Thinking::default()).serve_stdio(input, output).await
}

#[derive(Debug, Default)]
struct Thinking {
    history: Mutex<ThoughtHistory>,
}

impl Service for Thinking {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("wharf-thinking", env!("CARGO_PKG_VERSION"))
    }

    fn describe(self: Arc<Self>, _client: Client) -> DescriptionFuture {
        Box::pin(std::future::ready(ServerDescription::new(encoded(&json!({ "tools": {} })))))
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        // Nothing here awaits, so thoughts are handled in the order in which they arrive.
        let result = match call.method.as_ref() {
            "tools/list" => {
                Ok(encoded(&ToolList { tools: [tool::definition(result_support(&call))] }))
            }
            "tools/call" => self.call(&call).map(|result| encoded(&result)),
            method => Err(RpcError::method_not_found(method)),
        };
        Box::pin(std::future::ready(result))
    }
}

impl Thinking {
    fn call(&self, call: &ServiceCall) -> Result<CallResult, RpcError> {
        let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
        if name != tool::NAME {
            return Err(RpcError::invalid_params(format!(
                "Unknown tool; the only one is {}",
                tool::NAME
            )));
        }
        let arguments = call.param("arguments").unwrap_or_else(Json::object);
        let added = Thought::read(&arguments).and_then(|thought| {
            let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
            history.add(thought)
        });
        Ok(match added {
            Ok(progress) => {
                let is_structured = result_support(call) == tool::ResultSupport::Structured;
                CallResult::new(progress.as_str(), is_structured.then(|| progress.clone()))
            }
            // A tool error, because the model sees it and can correct its arguments.
            Err(wrong) => CallResult { is_error: true, ..CallResult::new(&wrong, None) },
        })
    }
}

#[derive(Serialize)]
struct ToolList {
    tools: [tool::ToolDefinition; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: [TextContent; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize)]
struct TextContent {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

impl CallResult {
    fn new(text: &str, structured_content: Option<Json>) -> Self {
        let content = [TextContent { kind: "text", text: text.to_owned() }];
        Self { content, structured_content, is_error: false }
    }
}

fn result_support(call: &ServiceCall) -> tool::ResultSupport {
    if call.context.client().revision() >= Revision::V2025_06_18 {
        tool::ResultSupport::Structured
    } else {
        tool::ResultSupport::Plain
    }
}

/// Encodes a value. This cannot fail, because all keys are strings.
fn encoded(value: &impl Serialize) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::null())
}
