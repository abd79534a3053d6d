//! Finds the tool, connects only to the servers that could have it, and calls it once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use wharf::approval::CallOrigin;
use wharf::call::Outcome;
use wharf::protocol::Json;
use wharf::tools::{Naming, Tool};
use wharf::{CallOptions, Runtime, Snapshot};
use wharf_config::Catalog;

use super::arguments::TypedArguments;
use super::early_failure::{self, DetailsBuilder};
use super::output;
use crate::commands::connect::RunningCall;
use crate::commands::server_args::ServerArgs;
use crate::commands::sign_in::SignIn;
use crate::commands::tool_usage::ToolUsage;
use crate::commands::{Exit, Failure, Invocation, connect, time_limit};
use crate::ui::phrase;

/// Call a tool
///
/// Connects to the server that has the tool, calls it once and prints the result. A tool is named
/// by its full name, as server/tool, as two words, or by its own name if only one server has it.
/// `wharf tools TOOL` shows the arguments of a tool.
///
/// key=value is converted to the type in the tool's schema, key:=JSON is JSON, key=@file takes the
/// contents of a file, and key=@@text is a text that begins with @. With --url, or with a command
/// after --, Wharf uses a server that is not configured, and stores nothing about it. Ctrl-C
/// cancels the call on the server.
///
/// On a terminal Wharf shows the progress of the call, and asks you the questions of the server
/// (elicitation); ! or Ctrl-D declines. Elsewhere servers are told that elicitation is not
/// supported.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf call fs/read path=README.md            server/tool and its arguments
  wharf call fs read path=README.md            the same
  wharf call mcp_github_search query=wharf     by its full name
  wharf call fs/write path=a.txt text=@b.txt   a value from a file
  wharf call fs/write --args '{\"path\": \"a.txt\", \"text\": \"hello\"}'
  wharf call fs/write --args - < arguments.json
  wharf call browser/screenshot --save pictures
  wharf call search query=mcp --url https://docs.example/mcp
  wharf call echo text=hello -- npx -y @modelcontextprotocol/server-everything

Exit codes: 1 the tool reported an error, 2 usage, 3 could not connect, 4 sign-in needed,
5 timeout, 6 not trusted, 130 cancelled.")]
pub(crate) struct CallArgs {
    /// The tool, by its name, as server/tool, or as two words
    tool: String,
    /// Arguments: key=value, key=@file, or key:=JSON
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    words: Vec<String>,
    /// All arguments as a JSON object; - reads them from the standard input, @file from a file
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// How long the server may be silent, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = time_limit::parse)]
    timeout: Option<Duration>,
    /// Save images, audio and other binary content of the result to files in this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    save: Option<PathBuf>,
    #[command(flatten, next_help_heading = "A server that is not configured")]
    server: ServerArgs,
}

/// Calls a tool.
pub(crate) fn run(args: &CallArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let (details, running) = (DetailsBuilder::new(&args.tool), RunningCall::default());
    let result = connect_and_call(args, &details, &running, invocation);
    if let (true, Err(failure)) = (invocation.ui.json, &result) {
        let error = early_failure::call_error(failure, running.phase_tracker().phase());
        output::print_failure(failure, error, details.into_details(failure, invocation))?;
    }
    result
}

fn connect_and_call(
    args: &CallArgs,
    details: &DetailsBuilder,
    running: &RunningCall,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let target = CallTarget::of(args, invocation)?;
    details.set_text(&target.tool);
    let arguments = TypedArguments::read(&target.words, args.args.as_deref(), &invocation.env)?;
    let (catalog, servers) = match target.one_off {
        Some(catalog) => connect::one_off::only_server(catalog),
        None => connect::select_for_tool(&target.tool, invocation)?,
    };
    if let [server] = servers.named() {
        details.set_server(catalog.winner(server.as_str()), Naming::from(&catalog.settings));
    }
    let is_enforced = catalog.settings.is_set_to("tools.pinning", "enforce");
    let attempt = async |runtime: &Runtime| {
        let snapshot = wait_for_lists(&target.tool, args.timeout, is_enforced, runtime).await?;
        let tool = connect::find_tool(&target.tool, &snapshot, &servers)?;
        details.set_tool(tool);
        let after = connect::one_off::repeated_args(&catalog);
        let usage = ToolUsage::of(tool, snapshot.registry(), after);
        let outcome = call(args, &arguments.arguments(tool, &usage)?, tool, running, runtime).await;
        Ok::<_, Failure>((outcome, usage.line()))
    };
    let work = async |runtime: &Runtime, person: &SignIn<'_>| {
        person.retry(runtime, async || attempt(runtime).await).await
    };
    let result = connect::with_call(invocation, running, &catalog, work, |result| {
        let (outcome, usage) = result??;
        let folder = args.save.as_deref().map(|folder| invocation.env.cwd.join(folder));
        output::print_outcome(outcome, &usage, folder.as_deref(), invocation)
    });
    result.map_err(|failure| hint_if_server(failure, invocation))
}

/// The tool to call, its server, and the argument words.
struct CallTarget {
    /// The tool, as one text.
    tool: String,
    /// The words after it.
    words: Vec<String>,
    /// The server from `--url` or `--`, if one is given.
    one_off: Option<Catalog>,
}

impl CallTarget {
    /// Reads the first word as the tool, or as its server if the second word is not an argument.
    fn of(args: &CallArgs, invocation: &Invocation) -> Result<Self, Failure> {
        let (tool, words) = (args.tool.clone(), args.words.clone());
        let one_off = connect::one_off::catalog(&args.server, invocation)?;
        match words.split_first() {
            Some((second, rest))
                if one_off.is_none()
                    && !second.contains('=')
                    && connect::is_server(&tool, invocation)? =>
            {
                Ok(Self { tool: format!("{tool} {second}"), words: rest.to_vec(), one_off })
            }
            _ => Ok(Self { tool, words, one_off }),
        }
    }
}

/// Adds a hint if the name of a server was typed instead of a tool.
fn hint_if_server(failure: Failure, invocation: &Invocation) -> Failure {
    match failure {
        Failure::ItemNotFound { what, name, .. }
            if connect::is_server(&name, invocation).unwrap_or_default() =>
        {
            let word = phrase::word(&name);
            let hint = format!("{word} is a server: `wharf tools {word}` lists its tools");
            Failure::ItemNotFound { what, name, hint: Some(hint) }
        }
        failure => failure,
    }
}

/// Waits for the tool lists that are needed to resolve the name.
async fn wait_for_lists(
    tool: &str,
    limit: Option<Duration>,
    needs_live_list: bool,
    runtime: &Runtime,
) -> Result<Arc<Snapshot>, Failure> {
    let limit = limit.unwrap_or(Duration::MAX);
    let lists = async {
        let snapshot = runtime.listed_for(tool).await;
        // Only a live list shows whether a tool differs from its pin.
        if needs_live_list { connect::settled(runtime).await } else { snapshot }
    };
    tokio::time::timeout(limit, lists).await.map_err(|_| Failure::TimedOut { limit })
}

async fn call(
    args: &CallArgs,
    arguments: &Json,
    tool: &Arc<Tool>,
    running: &RunningCall,
    runtime: &Runtime,
) -> Outcome {
    let options = CallOptions {
        caller: CallOrigin::Person,
        idle_timeout: args.timeout,
        progress: Some(running.begin(tool.server().as_str(), tool.tool())),
        phase_tracker: running.phase_tracker(),
        ..CallOptions::default()
    };
    runtime.call(tool, arguments).with_options(options).await
}
