//! An MCP server on stdio with one tool, which the other examples use.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use wharf::protocol::serve::{FunctionTool, ToolReply, ToolService};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let zone = json!({ "type": "object", "properties": { "zone": { "type": "string" } } });
    let now = FunctionTool::new("now", async |_| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(ToolReply::text(format!("{} seconds since 1970", now.as_secs())))
    });
    let set = FunctionTool::new("set", async |_| Ok(ToolReply::text("the clock is set")));
    let clock = ToolService::new("clock", "1.0.0")
        .tool(now.description("Returns the time.").input_schema(zone.clone()).read_only())
        .tool(set.description("Sets the clock.").input_schema(zone));
    clock.into_server().serve_stdio(tokio::io::stdin(), tokio::io::stdout()).await
}
