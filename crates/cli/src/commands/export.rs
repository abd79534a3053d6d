//! `wharf export`: copies servers into another program's file.

use clap::Args;
use clap::builder::PossibleValuesParser;
use wharf_config::manage;

use super::transfer::{self, TokenHandling, TransferArgs};
use super::{Exit, Failure, Invocation};

/// Copy the servers that Wharf would connect into another program's file
///
/// Shows the difference first, with secrets hidden, and asks on a terminal; the file as it was is
/// kept beside it, and its comments and order stay. Placeholders are translated; a server that
/// the other program could not use as written is skipped with the reason. A secret that would be
/// written literally into a file of the project is pointed out.
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

/// Copies servers out.
pub(crate) fn run(args: &ExportArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let copy = |request: &manage::TransferRequest| manage::export(&invocation.env, request);
    transfer::run((&args.to, TokenHandling::Keep), &args.transfer, invocation, copy)
}
