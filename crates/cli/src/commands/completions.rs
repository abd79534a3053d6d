//! `wharf completions SHELL`: prints the script for shell completion of verbs, flags, servers, tools
//! and their arguments.

use clap::Args;

use super::complete::{Shell, script};
use super::{Exit, Failure, Invocation};
use crate::ui::print_bytes;

/// Print a completion script for your shell
///
/// Put the output where your shell looks for completions, or load it when the shell starts. It
/// completes verbs, flags, servers, tools and the names of their arguments. Tools come from the
/// cache: pressing Tab does not connect to a server and does not start one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf completions bash > ~/.local/share/bash-completion/completions/wharf
  wharf completions zsh > \"${fpath[1]}/_wharf\"
  wharf completions fish > ~/.config/fish/completions/wharf.fish
  wharf completions powershell >> $PROFILE
  eval \"$(wharf completions bash)\"      for this shell only")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs, _invocation: &Invocation) -> Result<Exit, Failure> {
    print_bytes(&script(args.shell))?;
    Ok(Exit::Success)
}
