//! `wharf cache clear`: forgets what is known of servers from an earlier time.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_json};

/// Forget what is known of servers from earlier
///
/// The tools of each server are kept so that a slow server delays nobody; after this every server
/// is asked anew. How the last attempt to connect to each ended (`wharf status`) is forgotten, too.
/// Which tool has which name is remembered, so that no name changes hands.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf cache clear
  wharf tools --fresh            ask anew without forgetting first")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Forget the tools of all servers, and how they were last connected to
    Clear,
}

#[derive(Serialize)]
struct Answer {
    ok: bool,
    removed: usize,
    message: String,
}

/// Clears the cache.
pub(crate) fn run(args: &CacheArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let Action::Clear = args.action;
    let folder = invocation.env.wharf_home().ok_or(Failure::NoHome)?.join("cache");
    let removed = wharf::clear_cache(&folder).map_err(|source| Failure::File {
        verb: "clear",
        path: phrase::path(&folder, &invocation.env),
        source,
    })?;
    let message = match removed {
        0 => "Nothing was kept.".to_owned(),
        _ => format!("Forgot what was known of {}.", phrase::count(removed, "server")),
    };
    if invocation.ui.json {
        print_json(&Answer { ok: true, removed, message })?;
    } else {
        invocation.ui.sentences(&format!("{message}\n"))?;
    }
    Ok(Exit::Fine)
}
