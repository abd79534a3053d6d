//! `wharf add`: adds a server that is described by flags or a command line, or replaces the token
//! of an existing server.

use clap::Args;
use wharf_config::manage::{self, AddRequest, ManageError};

use super::credentials;
use super::probe::ProbeArgs;
use super::server_args::{ParsedServer, ServerArgs};
use super::server_change::{self, ScopeArg, report_change, scope_or_default};
use super::{Exit, Failure, Invocation};

/// Add a server to one of Wharf's own files
///
/// A local server is given as a command after `--`, a remote one with --url. Without --scope the
/// entry is written to the project's file, or to your own file in the home folder. A token is
/// stored in the credential store, never in the file. `--token -` asks for the token, or reads it
/// from the standard input if that is not a terminal. --token alone stores or replaces the token of
/// an existing server.
///
/// Wharf connects to the new server once and prints what it offers. If that fails, a warning says
/// why, and the entry stays in the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf add docs -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  wharf add search --scope user --env KEY='${SEARCH_KEY}' -- uvx search-server
  wharf add tickets --url https://tickets.example/mcp --token -
  wharf add tickets --token -                   another token for it
  wharf add old --url https://old.example/sse --transport sse --force")]
pub(crate) struct AddArgs {
    /// The server's name: letters, numbers, dash, underscore and dot
    name: String,
    /// Which file to write [default: project; in the home folder: user]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeArg>,
    /// Replace an existing entry
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    probe: ProbeArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Adds a server.
pub(crate) fn run(args: &AddArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    if args.server.has_only_token() {
        return replace_token(args, invocation);
    }
    let Some(ParsedServer { entry, token }) = args.server.read(&args.name, invocation)? else {
        return Err(Failure::Usage {
            message: "no server was given",
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
    server_change::add(request, args.probe, invocation)
}

/// Stores the token of an existing server, and changes nothing else.
fn replace_token(args: &AddArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let scope = args.scope.map(ScopeArg::scope);
    let missing = || ManageError::NotFound { name: args.name.clone(), nearest: None };
    let no_server = || {
        let catalog = invocation.load_quietly().ok();
        let nearest =
            catalog.and_then(|catalog| catalog.nearest_name(&args.name).map(str::to_owned));
        Failure::NoServerForToken { name: args.name.clone(), nearest }
    };
    // Do not ask for a token that cannot be stored.
    if !manage::has_entry(&invocation.env, &args.name)? {
        return Err(no_server());
    }
    let token = args.server.token(&args.name, invocation)?.ok_or_else(no_server)?;
    let store = credentials::store_of_settings(invocation);
    let places = store.places();
    let result = manage::set_token(&invocation.env, &args.name, scope, &token);
    if result.is_ok() {
        store.settle(&places).map_err(Failure::CredentialStore)?;
    }
    report_change(&args.name, result.and_then(|done| done.ok_or_else(missing)), invocation)
}
