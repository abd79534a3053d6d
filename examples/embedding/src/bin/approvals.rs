//! Asks on the terminal before a tool runs. Tools that say that they only read, and are
//! unchanged since they were pinned, run without a question.

use std::io::{BufRead, Write, stdin, stdout};

use wharf::approval::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest};
use wharf::config::text::escape_invisible;
use wharf::{Env, Runtime};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder()
        .env(Env::of_process())
        .discover(".")
        .approver(async |request: ApprovalRequest| {
            // A claim of the server, but one that has not changed since its tools were pinned.
            if request.is_pinned && request.hints.read_only == Some(true) {
                return ApprovalAnswer::Yes;
            }
            // Reading a line blocks, so it runs on a thread for blocking calls.
            let asking = tokio::task::spawn_blocking(move || ask(&request));
            asking.await.unwrap_or(ApprovalAnswer::no("nobody could be asked"))
        })
        .start()
        .await?;
    for tool in ["clock/now", "clock/set", "clock/set"] {
        let outcome = runtime.call(tool, ()).await;
        println!("{tool}: {}", if outcome.ok() { "done" } else { outcome.text.as_str() });
    }
    runtime.shutdown().await;
    Ok(())
}

/// A server or a model wrote these texts: what is invisible in them is shown.
fn ask(request: &ApprovalRequest) -> ApprovalAnswer {
    let [server, tool, arguments] =
        [&request.server, &request.tool, request.arguments.as_str()].map(escape_invisible);
    print!("run {server}/{tool} with {arguments}? [y]es, [a]lways, anything else for no: ");
    let mut line = String::new();
    let read = stdout().flush().and_then(|()| stdin().lock().read_line(&mut line));
    match (read, line.trim()) {
        (Ok(_), "y") => ApprovalAnswer::Yes,
        (Ok(_), "a") => ApprovalAnswer::AlwaysTool(ApprovalLifetime::Session),
        _ => ApprovalAnswer::no("the person said no"),
    }
}
