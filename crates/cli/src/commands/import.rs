//! `wharf import`: copies servers of another program into one of Wharf's own files.

use clap::Args;
use wharf_config::manage;

use super::credentials;
use super::transfer::{self, TokenHandling, TransferArgs};
use super::{Exit, Failure, Invocation};

/// Copy servers from another program, or from a file, into Wharf's file
///
/// Shows the difference first, with secrets redacted, and asks on a terminal. A backup is written
/// beside the file. Placeholders are translated. A server that is not trusted, or that would mean
/// something else in Wharf's file, is skipped with the reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf import cursor --dry-run
  wharf import claude github fs
  wharf import cursor --store-tokens
  wharf import ./servers.json --scope project")]
pub(crate) struct ImportArgs {
    /// The short name of a program, such as cursor, or a file
    from: String,
    /// Store literal tokens in Wharf's credential store instead of the file
    #[arg(long)]
    store_tokens: bool,
    #[command(flatten)]
    transfer: TransferArgs,
}

/// Imports servers.
pub(crate) fn run(args: &ImportArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let copy = |request: &manage::TransferRequest| manage::import(&invocation.env, request);
    let tokens = if args.store_tokens { TokenHandling::Store } else { TokenHandling::Offer };
    let store = credentials::store_of_settings(invocation);
    let places = store.places();
    let exit = transfer::run(&args.from, tokens, &args.transfer, invocation, copy)?;
    store.settle(&places).map_err(Failure::CredentialStore)?;
    Ok(exit)
}
