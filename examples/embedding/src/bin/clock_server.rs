//! An MCP server on stdio with one tool, which the other examples use.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use wharf::protocol::serve::{ToolReply, ToolService};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let any = json!({ "type": "object", "properties": { "zone": { "type": "string" } } });
    let clock = ToolService::new("clock", "1.0.0")
        .read_only_tool("now", "Returns the time.", any.clone(), async |_| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok(ToolReply::text(format!("{} seconds since 1970", now.as_secs())))
        })
        .tool("set", "Sets the clock.", any, async |_| Ok(ToolReply::text("the clock is set")));
    clock.into_server().serve_stdio(tokio::io::stdin(), tokio::io::stdout()).await
}
