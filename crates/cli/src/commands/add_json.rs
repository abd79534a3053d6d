//! `wharf add-json`: adds a server whose entry is given as JSON.

use std::io::Read;

use clap::Args;
use wharf_config::manage::{self, AddRequest};

use super::probe::ProbeArgs;
use super::server_change::{self, ScopeArg, report_change, scope_or_default};
use super::{Exit, Failure, Invocation};

/// The longest entry that is read from stdin, in bytes.
const LONGEST_ENTRY: u64 = 1024 * 1024;

/// Add a server whose entry is given as JSON
///
/// The JSON is one entry with the fields of Wharf's own files; comments and trailing commas are
/// allowed. With `-` it is read from the standard input. Wharf then connects to the new server once
/// and prints what it offers. If that fails, the entry stays in the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf add-json fs '{\"command\": \"npx\", \"args\": [\"-y\", \"some-server\"]}'
  wharf add-json api --scope user - < entry.json")]
pub(crate) struct AddJsonArgs {
    /// The server's name: letters, numbers, dash, underscore and dot
    name: String,
    /// The entry, or `-` to read it from the standard input
    #[arg(value_name = "JSON")]
    entry: String,
    /// Which file to write [default: project; in the home folder: user]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeArg>,
    /// Replace an existing entry
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    probe: ProbeArgs,
}

/// Adds a server.
pub(crate) fn run(args: &AddJsonArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let from_stdin;
    let text = if args.entry == "-" {
        from_stdin = stdin()?;
        &from_stdin
    } else {
        &args.entry
    };
    let entry = match manage::entry_from_json(text) {
        Ok(entry) => entry,
        Err(error) => return report_change(&args.name, Err(error), invocation),
    };
    let scope = scope_or_default(args.scope, invocation);
    let name = args.name.clone();
    let request = AddRequest { name, entry, token: None, scope, replace: args.force };
    server_change::add(request, args.probe, invocation)
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().lock().take(LONGEST_ENTRY).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(_) => Err(Failure::Usage {
            message: "the standard input is not text",
            hint: "give one JSON object",
        }),
    }
}
