//! Gives each subagent a view: some of the tools, its own approver, limits and context.

use std::time::Duration;

use wharf::approval::{AllowAll, ApprovalAnswer, ApprovalRequest};
use wharf::{CallContext, Env, Runtime, ViewOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let approver = async |request: ApprovalRequest| {
        let who = request.context.map_or("somebody".to_owned(), |it| it.label().to_owned());
        println!("{who} wants to run {}", request.tool);
        ApprovalAnswer::no("only the main agent may change something")
    };
    let builder = Runtime::builder().env(Env::of_process()).discover(".").approver(approver);
    let runtime = builder.start().await?;
    runtime.ready().await;

    let reader = ViewOptions::new().tools(["clock/now", "docs/read_*"]).approver(AllowAll);
    let reader = runtime.view(reader.context(CallContext::new("agent-1", "the reader")));
    let writer = ViewOptions::new().servers(["clock"]).max_call(Duration::from_secs(10));
    let writer = runtime.view(writer.context(CallContext::new("agent-2", "the writer")));
    println!("the reader has {} tools, the writer {}", reader.tools().len(), writer.tools().len());
    for (view, tool) in [(&reader, "clock/now"), (&reader, "clock/set"), (&writer, "clock/set")] {
        let outcome = view.call(tool, ()).await;
        println!("{tool}: {}", if outcome.ok() { "done" } else { outcome.text.as_str() });
    }
    runtime.shutdown().await;
    Ok(())
}
