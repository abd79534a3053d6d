//! An agent of the `rig` crate with the MCP tools of this machine.
//!
//! ```text
//! cd examples/rig
//! cargo run                                        lists the tools as rig sees them
//! OPENAI_API_KEY=… cargo run -- "What time is it?" lets a model use them
//! ```
//!
//! Each tool of Wharf becomes a [`DynamicTool`]. Wharf checks the arguments, asks for approval, and
//! sends the call; rig gets the text of the outcome.

use std::error::Error;
use std::io::{self, BufRead, Write};

use rig_agent::AgentBuilder;
use rig_core::message::{EmptyToolName, ToolName};
use rig_core::providers::openai::{GPT_5_2, OpenAI};
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};
use wharf::approval::{ApprovalAnswer, ApprovalRequest};
use wharf::call::{CallErrorReason, Outcome};
use wharf::config::text::clean;
use wharf::tools::Tool;
use wharf::{Env, Runtime, Status};

/// How often the model may call tools before it must answer.
const MOST_TURNS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let env = Env::of_process();
    let has_key = env.nonempty_variable("OPENAI_API_KEY").is_some();
    let builder = Runtime::builder().env(env).discover(".").with_defaults().approver(approve);
    let runtime = builder.start().await?;
    let snapshot = runtime.ready().await;
    for server in snapshot.servers().filter(|server| server.status == Status::Failed) {
        let why = server.failure.as_ref().map(|failure| clean(&failure.message));
        eprintln!("{} failed: {}", server.name, why.unwrap_or_default());
    }
    let tools: Result<Vec<_>, _> =
        snapshot.tools().iter().map(|tool| for_rig(&runtime, tool)).collect();
    let outcome = match (std::env::args().nth(1), has_key) {
        (Some(prompt), true) => answer(&prompt, tools?).await,
        (prompt, _) => {
            if prompt.is_some() {
                eprintln!("OPENAI_API_KEY is not set, so no model is used; these are the tools:");
            }
            list(&tools?);
            Ok(())
        }
    };
    runtime.shutdown().await;
    outcome
}

/// Converts a tool of Wharf to a tool of rig.
fn for_rig(runtime: &Runtime, tool: &Tool) -> Result<DynamicTool, EmptyToolName> {
    let name = ToolName::new(tool.name().to_owned())?;
    let description = tool.description().unwrap_or_default().to_string();
    let schema = tool.input_schema().to().unwrap_or_else(|| serde_json::json!({}));
    let (runtime, called) = (runtime.clone(), tool.name().to_owned());
    Ok(DynamicTool::new(name, description, schema, move |arguments| {
        let (runtime, called) = (runtime.clone(), called.clone());
        Box::pin(async move { tool_result(runtime.call(&called, arguments).await) })
    }))
}

/// Converts an outcome to the result of a rig tool. The text of a failure tells the model what to
/// do.
fn tool_result(outcome: Outcome) -> Result<ToolOutput, ToolExecutionError> {
    let Some(error) = &outcome.error else {
        return match outcome.is_error {
            false => Ok(ToolOutput::text(outcome.text)),
            true => Err(ToolExecutionError::other(outcome.text)),
        };
    };
    let kind = match error.reason {
        CallErrorReason::Denied => return Err(ToolExecutionError::refused(outcome.text)),
        CallErrorReason::BadArguments => ToolErrorKind::InvalidArgs,
        CallErrorReason::UnknownTool => ToolErrorKind::NotFound,
        CallErrorReason::TimedOut => ToolErrorKind::Timeout,
        CallErrorReason::Cancelled => ToolErrorKind::Cancelled,
        CallErrorReason::NeedsAuth | CallErrorReason::Untrusted => ToolErrorKind::PermissionDenied,
        _ => ToolErrorKind::Provider,
    };
    // A call with an unknown outcome may have run, so rig must not repeat it by itself.
    Err(ToolExecutionError::new(kind, outcome.text).with_retryable(false))
}

async fn answer(prompt: &str, tools: Vec<DynamicTool>) -> Result<(), Box<dyn Error>> {
    let model = OpenAI::from_env()?.completion(GPT_5_2);
    let agent = AgentBuilder::new(model)
        .preamble("Use the tools where they help, and answer briefly.")
        .default_max_turns(MOST_TURNS)
        .dynamic_tools(tools)
        .build();
    let response = agent.prompt(prompt).await?;
    for line in response.output().lines() {
        println!("{}", clean(line));
    }
    Ok(())
}

fn list(tools: &[DynamicTool]) {
    for tool in tools {
        let definition = tool.definition();
        println!("{}", definition.name);
        println!("    {}", clean(&definition.description));
        println!("    {}", clean(&definition.parameters.to_string()));
    }
}

/// Asks the person at the terminal before a tool runs.
async fn approve(request: ApprovalRequest) -> ApprovalAnswer {
    // Reading a line blocks, so it runs on a thread for blocking calls.
    let asking = tokio::task::spawn_blocking(move || ask(&request));
    asking.await.unwrap_or(ApprovalAnswer::no("nobody could be asked"))
}

fn ask(request: &ApprovalRequest) -> ApprovalAnswer {
    let (server, tool) = (clean(&request.server), clean(&request.tool));
    let arguments = clean(request.arguments.as_str());
    eprint!("run \"{tool}\" of server \"{server}\" with {arguments}? [y/N] ");
    let _best_effort = io::stderr().flush();
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line).map(|_| line.trim()) {
        Ok("y" | "yes") => ApprovalAnswer::Yes,
        _ => ApprovalAnswer::no("the person said no"),
    }
}
