//! `wharf man`: the manual page.

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use super::{Exit, Failure, Invocation};
use crate::args::Cli;
use crate::ui::print_bytes;

/// Print the manual page
///
/// The page is in the format of man(1). `wharf help VERB` describes a verb in detail.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf man | man -l -
  wharf man > ~/.local/share/man/man1/wharf.1")]
pub(crate) struct ManArgs {}

/// Prints the page.
pub(crate) fn run(_args: &ManArgs, _invocation: &Invocation) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    Man::new(Cli::command()).render(&mut page).map_err(Failure::Output)?;
    print_bytes(&page)?;
    Ok(Exit::Success)
}
