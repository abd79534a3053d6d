//! `wharf disable`: switches a server off.

use clap::Args;
use wharf_config::manage::{self, Switch};

use super::server_change::report_change;
use super::{Exit, Failure, Invocation};

/// Switch a server off
///
/// Wharf then never connects to it, but its name stays taken. A server in another program's file is
/// switched off by a list in your own file; the other program's file is not changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf disable github")]
pub(crate) struct DisableArgs {
    /// The server's name
    name: String,
}

/// Switches a server off.
pub(crate) fn run(args: &DisableArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    report_change(
        &args.name,
        manage::switch(&invocation.env, &args.name, Switch::Off, invocation.options),
        invocation,
    )
}
