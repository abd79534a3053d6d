//! `wharf enable`: switches a server on.

use clap::Args;
use wharf_config::manage::{self, Switch};

use super::server_change::report_change;
use super::{Exit, Failure, Invocation};

/// Switch a server on
///
/// A server in another program's file is switched on by a list in your own file; the other
/// program's file is not changed. A server that came with a project must still be trusted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf enable github")]
pub(crate) struct EnableArgs {
    /// The server's name
    name: String,
}

/// Switches a server on.
pub(crate) fn run(args: &EnableArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    report_change(
        &args.name,
        manage::switch(&invocation.env, &args.name, Switch::On, invocation.options),
        invocation,
    )
}
