//! `wharf mcp SERVER`: runs a built-in MCP server on stdin and stdout.
//!
//! It creates its own Tokio runtime; the verbs that connect to servers share the one in `connect`.

use clap::{Args, Subcommand};
use tokio::runtime::Builder;

use super::{Exit, Failure, Invocation};
use crate::host;

/// Run one of the MCP servers that are built into Wharf
///
/// The server speaks MCP on its standard input and output, one message per line, until the input
/// ends. It is meant to be started by an MCP client, from an entry whose command is `wharf`.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "SERVER",
    subcommand_help_heading = "Built-in servers",
    disable_help_subcommand = true,
    after_help = "\
Examples:
  wharf mcp thinking
  wharf add thinking -- wharf mcp thinking      use it in this project"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    server: BuiltIn,
}

#[derive(Debug, Subcommand)]
enum BuiltIn {
    /// Help a model think step by step, with a tool called sequentialthinking
    Thinking,
}

/// Serves until the client closes the input.
pub(crate) fn run(args: &McpArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    if invocation.ui.is_stdin_terminal {
        invocation.ui.notice("speaking MCP on standard input and output until the input ends");
    }
    let runtime = Builder::new_current_thread().enable_time().build().map_err(Failure::Prepare)?;
    let served = runtime.block_on(async {
        let (input, output) = host::stdio();
        match args.server {
            BuiltIn::Thinking => wharf::thinking::serve(input, output).await,
        }
    });
    // A thread may still be blocked on stdin if the client closed only the output.
    runtime.shutdown_background();
    served.map_err(Failure::Serve)?;
    Ok(Exit::Success)
}
