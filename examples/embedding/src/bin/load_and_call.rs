//! Lists the tools of every MCP server that is configured on this machine, and calls one of them.

use wharf::approval::ApprovalPolicy;
use wharf::{Env, Runtime};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = ApprovalPolicy::new().allow("clock/now");
    let builder = Runtime::builder().env(Env::of_process()).discover(".").approver(policy);
    let runtime = builder.start().await?;
    for tool in runtime.ready().await.tools() {
        println!("{}", tool.name());
    }
    println!("{}", runtime.call("clock/now", ()).await.text);
    runtime.shutdown().await;
    Ok(())
}
