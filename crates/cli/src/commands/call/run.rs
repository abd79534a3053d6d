//! Finds the tool, connects to its server alone, and calls it once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use wharf::call::{Caller, Outcome};
use wharf::tools::Tool;
use wharf::{CallOptions, Runtime, Snapshot};

use super::given::Given;
use super::shown;
use crate::commands::connect::Running;
use crate::commands::{Exit, Failure, Invocation, connect, limit};

/// Call a tool
///
/// Connects to the server that has the tool, calls it once and prints what it says. Words of the
/// form key=value become arguments of the types that the tool wants, key:=JSON is taken as it is.
/// A tool can also be named `server/tool`. Ctrl-C cancels the call on the server.
///
/// On a terminal you see how far the call is, and are asked what the server wants to know meanwhile;
/// ! or Ctrl-D declines. Elsewhere servers are told that nobody can be asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf call mcp_github_search query=wharf
  wharf call fs/read path=README.md
  wharf call fs/write --args '{\"path\": \"a.txt\", \"text\": \"hello\"}'
  wharf call fs/write --args - < arguments.json
  wharf call browser/screenshot --save pictures

Exit codes: 1 the tool said no, 2 usage, 3 could not connect, 4 sign-in needed, 5 timeout,
6 not trusted, 130 cancelled.")]
pub(crate) struct CallArgs {
    /// The tool, by its name or as server/tool
    tool: String,
    /// Arguments: key=value, or key:=JSON
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    words: Vec<String>,
    /// All arguments as a JSON object; - reads them from the standard input
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// How long the server may be silent, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = limit::parse)]
    timeout: Option<Duration>,
    /// Put images, sounds and other bytes of the answer into files in this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    save: Option<PathBuf>,
}

/// Calls a tool.
pub(crate) fn run(args: &CallArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let result = connect_and_call(args, invocation);
    if let (true, Err(failure)) = (invocation.ui.json, &result) {
        shown::show_failure(&args.tool, failure)?;
    }
    result
}

fn connect_and_call(args: &CallArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let given = Given::read(&args.words, args.args.as_deref())?;
    let (catalog, servers) = connect::for_tool(&args.tool, invocation)?;
    let running = Running::default();
    let is_enforced = catalog.settings.says("tools.pinning", "enforce");
    let work = async |runtime: &Runtime| {
        let snapshot = lists(args, is_enforced, runtime).await?;
        let tool = connect::tool(&args.tool, &snapshot, &servers)?;
        call(args, &given, (tool, &running), runtime).await
    };
    connect::with_call((invocation, &running), &catalog, work, |outcome| {
        let folder = args.save.as_deref().map(|folder| invocation.env.cwd.join(folder));
        shown::show(&outcome?, folder.as_deref(), invocation)
    })
}

/// Waits for the lists that decide which tool is meant.
async fn lists(
    args: &CallArgs,
    is_enforced: bool,
    runtime: &Runtime,
) -> Result<Arc<Snapshot>, Failure> {
    let limit = args.timeout.unwrap_or(Duration::MAX);
    let lists = async {
        let snapshot = runtime.listed_for(&args.tool).await;
        // What is known from an earlier time says nothing about whether a tool has changed since.
        if is_enforced { connect::settled(runtime).await } else { snapshot }
    };
    tokio::time::timeout(limit, lists).await.map_err(|_| Failure::TimedOut { limit })
}

async fn call(
    args: &CallArgs,
    given: &Given<'_>,
    (tool, running): (&Tool, &Running),
    runtime: &Runtime,
) -> Result<Outcome, Failure> {
    let arguments = given.arguments(tool.accepted_schema())?;
    let options = CallOptions {
        caller: Caller::Person,
        timeout: args.timeout,
        progress: Some(running.begin(tool.server().as_str(), tool.tool())),
        ..CallOptions::default()
    };
    Ok(runtime.call(tool.name(), &arguments, &options).await)
}
