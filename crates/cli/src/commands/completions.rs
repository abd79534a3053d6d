//! `wharf completions SHELL`: a script that completes verbs and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Exit, Failure, Invocation};
use crate::args::Cli;
use crate::ui::print_file;

/// Print a completion script for your shell
///
/// Put the output where your shell looks for completions, or load it when the shell starts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf completions bash > ~/.local/share/bash-completion/completions/wharf
  wharf completions zsh > \"${fpath[1]}/_wharf\"
  wharf completions fish > ~/.config/fish/completions/wharf.fish
  wharf completions powershell >> $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs, _invocation: &Invocation) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wharf", &mut script);
    print_file(&script)?;
    Ok(Exit::Fine)
}
