//! The completion script for each shell. The scripts call `wharf complete`.

use clap::{CommandFactory, ValueEnum};

use crate::args::Cli;

/// A shell with a completion script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash 3.2 or newer
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// PowerShell 5 or newer
    Powershell,
    /// Elvish: verbs and flags only
    Elvish,
}

/// Returns the script.
pub(crate) fn script(shell: Shell) -> Vec<u8> {
    match shell {
        Shell::Bash => include_bytes!("scripts/wharf.bash").to_vec(),
        Shell::Zsh => include_bytes!("scripts/wharf.zsh").to_vec(),
        Shell::Fish => include_bytes!("scripts/wharf.fish").to_vec(),
        Shell::Powershell => include_bytes!("scripts/wharf.ps1").to_vec(),
        Shell::Elvish => {
            let mut script = Vec::new();
            let shell = clap_complete::Shell::Elvish;
            clap_complete::generate(shell, &mut Cli::command(), "wharf", &mut script);
            script
        }
    }
}
