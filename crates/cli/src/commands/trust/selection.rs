//! The arguments that select the servers of `trust` and `untrust`.

use clap::Args;

use crate::commands::{Failure, Invocation};

/// Named servers, all servers, or the folder.
#[derive(Debug, Args)]
pub(crate) struct TrustSelection {
    /// The servers' names
    #[arg(value_name = "NAME", conflicts_with_all = ["all", "folder"])]
    pub(crate) names: Vec<String>,
    /// Every server of this project
    #[arg(long, conflicts_with = "folder")]
    pub(crate) all: bool,
    /// The folder: your own servers then run in it, otherwise in your home folder
    #[arg(long)]
    pub(crate) folder: bool,
}

impl TrustSelection {
    /// Tells whether to ask about each server; fails without a terminal.
    pub(crate) fn asks(&self, invocation: &Invocation) -> Result<bool, Failure> {
        let asks = self.names.is_empty() && !self.all && !self.folder;
        if asks && !invocation.ui.can_ask {
            return Err(Failure::Usage {
                message: "cannot ask: stdin or stderr is not a terminal",
                hint: "name the servers, or use --all or --folder",
            });
        }
        Ok(asks)
    }
}
