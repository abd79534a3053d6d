//! `wharf export`: copies servers into another program's file.

use clap::Args;
use clap::builder::PossibleValuesParser;
use wharf_config::manage;

use super::transfer::{self, TokenHandling, TransferArgs};
use super::{Exit, Failure, Invocation};

/// Copy servers into another program's file
///
/// Copies the servers that Wharf would connect to. Shows the difference first, with secrets
/// redacted, and asks on a terminal. A backup is written beside the file, and comments and order
/// are kept. Placeholders are translated. A server that the other program could not use as written
/// is skipped with the reason. A literal secret that would be written into a project file is
/// reported.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf export cursor --dry-run
  wharf export vscode --scope project fs
  wharf export codex --force")]
pub(crate) struct ExportArgs {
    /// The program
    #[arg(value_parser = PossibleValuesParser::new(manage::export_targets().map(|(id, _)| id)))]
    to: String,
    #[command(flatten)]
    transfer: TransferArgs,
}

/// Exports servers.
pub(crate) fn run(args: &ExportArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let copy = |request: &manage::TransferRequest| manage::export(&invocation.env, request);
    transfer::run(&args.to, TokenHandling::Keep, &args.transfer, invocation, copy)
}
