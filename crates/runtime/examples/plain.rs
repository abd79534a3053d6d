//! Lists the tools of all MCP servers that are configured on this machine, or calls one.
//!
//! ```text
//! cargo run -p wharf --example plain
//! cargo run -p wharf --example plain -- mcp_thinking_sequentialthinking '{"thought": "…"}'
//! ```
//!
//! Servers of a project are not used until `wharf trust` trusts them. A call that the settings do
//! not allow needs approval on the terminal.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

use wharf::approval::{ApprovalAnswer, ApprovalLifetime, ApprovalRequest, Approver};
use wharf::config::text::clean;
use wharf::config::{Env, LoadOptions};
use wharf::protocol::Json;
use wharf::protocol::transport::BoxFuture;
use wharf::{LoadedTools, Options, Runtime, discover_and_load_mcp_tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let env = Env::of_process();
    let folder = env.cwd.clone();
    let load = LoadOptions { with_defaults: true, ..LoadOptions::default() };
    let options = Options { approver: Some(Arc::new(Terminal)), load, ..Options::new(env) };
    let loaded = discover_and_load_mcp_tools(&folder, options).await;
    for trouble in &loaded.errors {
        say(&format!("{}: {}", trouble.path, trouble.error));
    }
    let Some(runtime) = &loaded.runtime else { return Ok(ExitCode::FAILURE) };
    let code = match words.next() {
        None => list(&loaded),
        Some(tool) => call(runtime, &tool, words.next().as_deref().unwrap_or("{}")).await,
    };
    // Also after an error, servers get time to exit by themselves.
    runtime.shutdown().await;
    code
}

fn list(loaded: &LoadedTools) -> Result<ExitCode, Box<dyn Error>> {
    let mut output = io::stdout().lock();
    for tool in &loaded.tools {
        // Names and descriptions are untrusted text: they must be escaped for a terminal.
        let description = clean(&tool.description().unwrap_or_default());
        writeln!(output, "{}  ({})\n    {description}", tool.name(), clean(&tool.path()))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn call(runtime: &Runtime, tool: &str, text: &str) -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Json = text.parse()?;
    let outcome = runtime.call(tool, &arguments).await;
    let mut output = io::stdout().lock();
    for line in outcome.text.lines() {
        writeln!(output, "{}", clean(line))?;
    }
    Ok(if outcome.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks the person at the terminal.
struct Terminal;

impl Approver for Terminal {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            // Reading a line blocks, so it runs on a thread for blocking calls.
            let answer = tokio::task::spawn_blocking(move || ask(&request)).await;
            answer.unwrap_or(ApprovalAnswer::No { reason: None })
        })
    }
}

fn ask(request: &ApprovalRequest) -> ApprovalAnswer {
    let (server, tool) = (clean(&request.server), clean(&request.tool));
    say(&format!("server \"{server}\" wants to run \"{tool}\" with"));
    say(&format!("  {}", clean(request.arguments.as_str())));
    say("run it? [y]es, [a]lways in this session, anything else for no");
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line).map(|_| line.trim()) {
        Ok("y" | "yes") => ApprovalAnswer::Yes,
        Ok("a" | "always") => ApprovalAnswer::AlwaysTool(ApprovalLifetime::Session),
        Ok(_) => ApprovalAnswer::No { reason: Some("the person said no".to_owned()) },
        Err(_) => ApprovalAnswer::No { reason: Some("nobody could be asked".to_owned()) },
    }
}

/// Prints a message to stderr.
fn say(text: &str) {
    // An error of stderr cannot be reported anywhere.
    let _best_effort = writeln!(io::stderr(), "{text}");
}
