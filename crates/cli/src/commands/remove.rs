//! `wharf remove`: takes a server out of one of Wharf's own files.

use clap::Args;
use wharf_config::manage;

use super::server_change::{ScopeArg, report_change};
use super::{Exit, Failure, Invocation};

/// Remove a server from one of Wharf's own files
///
/// The server's token is deleted with it. A server in another program's file cannot be removed;
/// `wharf disable` switches it off.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf remove fs
  wharf rm fs --scope user")]
pub(crate) struct RemoveArgs {
    /// The server's name
    name: String,
    /// Which file to change [default: the file of the winning entry]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeArg>,
}

/// Removes a server.
pub(crate) fn run(args: &RemoveArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let scope = args.scope.map(ScopeArg::scope);
    report_change(
        &args.name,
        manage::remove(&invocation.env, &args.name, scope, invocation.options),
        invocation,
    )
}
