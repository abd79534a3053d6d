//! Offers functions of this program as tools, in one registry with the tools of MCP servers.

use serde_json::json;
use wharf::approval::AllowAll;
use wharf::protocol::serve::{FunctionCall, FunctionTool, ToolReply, ToolService};
use wharf::{Env, Runtime, in_process};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let add = FunctionTool::new("add", async |call: FunctionCall| {
        // The model sees an error and can correct its call.
        let (a, b): (i64, i64) = (call.argument("a")?, call.argument("b")?);
        Ok(ToolReply::text(a.checked_add(b).ok_or("the sum is too large")?.to_string()))
    });
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"],
    });
    let math = ToolService::new("math", "1.0.0")
        .tool(add.description("Adds two numbers.").input_schema(schema).read_only());
    let runtime = Runtime::builder()
        .env(Env::of_process())
        .discover(".")
        .server("math", in_process(math.into_server()))
        .approver(AllowAll)
        .start()
        .await?;
    for tool in runtime.ready().await.tools() {
        println!("{} of {}", tool.name(), tool.server());
    }
    println!("{}", runtime.call("math/add", json!({ "a": 2, "b": 40 })).await.text);
    println!("{}", runtime.call("math/add", json!({ "a": 2, "b": "x" })).await.text);
    runtime.shutdown().await;
    Ok(())
}
