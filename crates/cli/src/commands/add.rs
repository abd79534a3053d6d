//! `wharf add`: adds a server from the words of a command line.

use clap::Args;
use wharf_config::manage::AddRequest;

use super::changed::{self, ScopeWord, scope_or_default};
use super::server_words::{GivenServer, ServerWords};
use super::{Exit, Failure, Invocation};

/// Add a server to one of Wharf's own files
///
/// A local server is given as a command after `--`, a remote one with --url. Without --scope it
/// goes into the project's file, or into yours in the home folder. A token is kept in the
/// credential store, never in the file; with `--token -` it is asked for, or read from the
/// standard input where that is no terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf add docs -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  wharf add search --scope user --env KEY='${SEARCH_KEY}' -- uvx search-server
  wharf add tickets --url https://tickets.example/mcp --token -
  wharf add old --url https://old.example/sse --transport sse --force")]
pub(crate) struct AddArgs {
    /// The server's name: letters, numbers, dash, underscore and dot
    name: String,
    /// Whose file it goes into [default: the project's]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeWord>,
    /// Replace an entry of this name
    #[arg(long)]
    force: bool,
    /// Do not try to reach the server
    #[arg(long)]
    no_probe: bool,
    #[command(flatten)]
    server: ServerWords,
}

/// Adds a server.
pub(crate) fn run(args: &AddArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let Some(GivenServer { entry, token }) = args.server.read(&args.name, invocation)? else {
        return Err(Failure::Usage {
            message: "what to add is missing",
            hint: "give --url URL for a remote server, or -- COMMAND… for a local one",
        });
    };
    let request = AddRequest {
        name: args.name.clone(),
        entry,
        token,
        scope: scope_or_default(args.scope, invocation),
        replace: args.force,
    };
    changed::add(request, invocation)
}
