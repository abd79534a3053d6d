//! An agent of the `rig` crate with the MCP tools of this machine.
//!
//! ```text
//! cd examples/rig
//! cargo run                                        lists the tools as rig sees them
//! OPENAI_API_KEY=… cargo run -- "What time is it?" lets a model use them
//! ```
//!
//! Each tool of Wharf becomes a [`DynamicTool`]. Wharf checks the arguments, asks whoever has to be
//! asked, and sends the call at most once; rig only sees the words that came of it.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rig_agent::AgentBuilder;
use rig_core::message::{EmptyToolName, ToolName};
use rig_core::providers::openai::{GPT_5_2, OpenAI};
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};
use wharf::call::{ApprovalAnswer, ApprovalRequest, Approver, Outcome, Reason};
use wharf::config::text::clean;
use wharf::config::{Env, LoadOptions, Platform};
use wharf::protocol::Json;
use wharf::protocol::transport::BoxFuture;
use wharf::tools::Tool;
use wharf::{CallOptions, Options, Runtime, discover_and_load_mcp_tools};

/// How often the model may call tools before it has to answer.
const MOST_TURNS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let env = environment()?;
    let has_key = env.nonempty_variable("OPENAI_API_KEY").is_some();
    let folder = env.cwd.clone();
    let options = Options { approver: Some(Arc::new(Terminal)), ..Options::new(env) };
    let loaded = discover_and_load_mcp_tools(&folder, options, LoadOptions::default()).await;
    for trouble in &loaded.errors {
        eprintln!("{}: {}", trouble.path, clean(&trouble.error));
    }
    let Some(runtime) = loaded.runtime else { return Ok(()) };
    let tools: Result<Vec<_>, _> =
        loaded.tools.iter().map(|tool| for_rig(&runtime, tool)).collect();
    let outcome = match (std::env::args().nth(1), has_key) {
        (Some(prompt), true) => answer(&prompt, tools?).await,
        (prompt, _) => {
            if prompt.is_some() {
                eprintln!("OPENAI_API_KEY is not set, so nobody is asked; these are the tools:");
            }
            list(&tools?);
            Ok(())
        }
    };
    runtime.shutdown().await;
    outcome
}

/// Makes a tool of Wharf a tool of rig.
fn for_rig(runtime: &Runtime, tool: &Tool) -> Result<DynamicTool, EmptyToolName> {
    let name = ToolName::new(tool.name().to_owned())?;
    let description = tool.description().unwrap_or_default().to_string();
    let schema = tool.input_schema().to().unwrap_or_else(|| serde_json::json!({}));
    let (runtime, called) = (runtime.clone(), tool.name().to_owned());
    Ok(DynamicTool::new(name, description, schema, move |arguments| {
        let (runtime, called) = (runtime.clone(), called.clone());
        Box::pin(async move {
            let arguments = Json::encode(&arguments).map_err(ToolExecutionError::from_error)?;
            tool_result(runtime.call(&called, &arguments, &CallOptions::default()).await)
        })
    }))
}

/// Tells rig what came of a call. The words of a failure are for the model: they say what to do.
fn tool_result(outcome: Outcome) -> Result<ToolOutput, ToolExecutionError> {
    let Some(error) = &outcome.error else {
        return match outcome.is_error {
            false => Ok(ToolOutput::text(outcome.text)),
            true => Err(ToolExecutionError::other(outcome.text)),
        };
    };
    let kind = match error.reason {
        Reason::Denied => return Err(ToolExecutionError::refused(outcome.text)),
        Reason::BadArguments => ToolErrorKind::InvalidArgs,
        Reason::UnknownTool => ToolErrorKind::NotFound,
        Reason::TimedOut => ToolErrorKind::Timeout,
        Reason::Cancelled => ToolErrorKind::Cancelled,
        Reason::NeedsAuth | Reason::Untrusted => ToolErrorKind::PermissionDenied,
        _ => ToolErrorKind::Provider,
    };
    // A call whose outcome is not known may have run: only the model can judge whether to repeat
    // it.
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

/// Looks at this process. The library itself never does, so a program decides what it gets to see.
fn environment() -> io::Result<Env> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let env = Env::new(Platform::HOST, std::env::current_dir()?).with_variables(variables);
    let home = env.nonempty_variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
    Ok(match home.map(PathBuf::from) {
        Some(home) => env.with_home(home),
        None => env,
    })
}

/// Asks the person in front of the terminal before the model may run a tool.
struct Terminal;

impl Approver for Terminal {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            // Reading a line blocks, so it gets a thread where that does no harm.
            let answer = tokio::task::spawn_blocking(move || ask(&request)).await;
            answer.unwrap_or(ApprovalAnswer::No { reason: None })
        })
    }
}

fn ask(request: &ApprovalRequest) -> ApprovalAnswer {
    let (server, tool) = (clean(&request.server), clean(&request.tool));
    let arguments = clean(request.arguments.as_str());
    eprint!("run \"{tool}\" of server \"{server}\" with {arguments}? [y/N] ");
    let _best_effort = io::stderr().flush();
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line).map(|_| line.trim()) {
        Ok("y" | "yes") => ApprovalAnswer::Yes,
        _ => ApprovalAnswer::No { reason: Some("the person said no".to_owned()) },
    }
}
