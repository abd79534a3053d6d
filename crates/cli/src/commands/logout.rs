//! `wharf logout NAME`: signs out of a server.

use clap::Args;
use serde::Serialize;
use wharf::Runtime;
use wharf::auth::{Revocation, SignedOut};
use wharf_config::text::clean;

use super::{Exit, Failure, Invocation, connect};
use crate::ui::{phrase, print_json, style};

/// Sign out of a server
///
/// Revokes the tokens where the server offers that, and removes the stored credential. The entry of
/// the server stays unchanged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf logout linear
  wharf logout github --account work

Exit codes: 1 nothing was stored, 6 not trusted.")]
pub(crate) struct LogoutArgs {
    /// The server's name
    name: String,
    /// The account, if several are stored
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
}

#[derive(Serialize)]
struct LogoutJson<'a> {
    ok: bool,
    name: &'a str,
    message: String,
    /// Whether the issuer revoked the tokens.
    revoked: bool,
}

/// Signs out.
pub(crate) fn run(args: &LogoutArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = connect::select_one(&args.name, invocation)?;
    let work = async |runtime: &Runtime| {
        let signed_out = runtime.sign_out(&args.name, args.account.as_deref()).await;
        signed_out.map_err(|error| Failure::sign_in(&args.name, error))
    };
    connect::with_servers(invocation, &catalog, work, |result| {
        show(&args.name, &result?, invocation)
    })
}

fn show(name: &str, signed_out: &SignedOut, invocation: &Invocation) -> Result<Exit, Failure> {
    let message = format!("Signed out of {}", phrase::quoted(name));
    if let Revocation::Failed { reason } = &signed_out.revocation {
        invocation.ui.notice(&format!(
            "{} the tokens were removed here, but not revoked: {}; they work until they expire",
            style::warning("warning:"),
            clean(reason)
        ));
    }
    if invocation.ui.json {
        let revoked = signed_out.revocation == Revocation::Revoked;
        print_json(&LogoutJson { ok: true, name, message, revoked })?;
    } else {
        invocation.ui.sentences(&format!("{message}\n"))?;
    }
    Ok(Exit::Success)
}
