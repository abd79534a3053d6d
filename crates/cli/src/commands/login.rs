//! `wharf login NAME`: signs in to a server with OAuth.

use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;
use wharf::Runtime;
use wharf::auth::{SignInMethod, SignInOptions, SignedIn};
use wharf_config::Problem;
use wharf_config::text::clean;
use wharf_config::time::{moment, rfc3339};

use super::sign_in::SignIn;
use super::{Exit, Failure, Invocation, connect, time_limit};
use crate::ui::{Lines, phrase, print_json, style, time_ago};

/// Sign in to a server
///
/// Finds out where the server's users sign in, opens that page in your browser, and stores the
/// token in the credential store. The address is always printed: on a machine without a browser,
/// open it anywhere and paste the address of the page that it ends on. With --device you enter a
/// short code on any device instead.
///
/// Tokens are renewed without you for as long as the server allows it. The token belongs to the
/// address of the server, so this also works for servers in the files of other programs, which
/// stay unchanged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf login linear
  wharf login linear --no-browser        open the address yourself, for example over SSH
  wharf login linear --device            enter a code on another device
  wharf login github --account work      a second account; select it with \"account\" in the entry
  wharf login github --scope 'repo read:org'

Exit codes: 4 the sign-in failed, 5 nobody signed in in time, 6 not trusted,
130 cancelled.")]
pub(crate) struct LoginArgs {
    /// The server's name
    name: String,
    /// Do not open the browser
    #[arg(long)]
    no_browser: bool,
    /// Enter a code on another device
    #[arg(long, conflicts_with = "no_browser")]
    device: bool,
    /// Your name for the account, if you have several [default: "account" in the entry]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// The scopes to request, separated by spaces [default: those that the server names]
    #[arg(long, value_name = "SCOPES")]
    scope: Vec<String>,
    /// How long to wait for you, such as 90s or 10m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = time_limit::parse)]
    timeout: Option<Duration>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoginJson<'a> {
    ok: bool,
    name: &'a str,
    message: String,
    issuer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    scopes: &'a [String],
    /// In UTC, in the format of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    renewable: bool,
    /// Rules of the specification that a server broke without harm.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

impl LoginArgs {
    fn options(&self) -> SignInOptions {
        let mut options = SignInOptions::default();
        options.method = match (self.device, self.no_browser) {
            (true, _) => SignInMethod::DeviceCode,
            (false, true) => SignInMethod::PageWithoutBrowser,
            (false, false) => SignInMethod::Automatic,
        };
        options.limit = self.timeout;
        options.account.clone_from(&self.account);
        let scopes = self.scope.iter().flat_map(|words| words.split_ascii_whitespace());
        let scopes: Vec<String> = scopes.map(str::to_owned).collect();
        options.scopes = (!scopes.is_empty()).then_some(scopes);
        options
    }
}

/// Signs in.
pub(crate) fn run(args: &LoginArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = connect::select_one(&args.name, invocation)?;
    let work = async |runtime: &Runtime, person: &SignIn<'_>| {
        person.sign_in(runtime, &args.name, &args.options()).await
    };
    connect::with_sign_in(invocation, &catalog, work, |result| {
        show(&args.name, &result?, invocation)
    })
}

fn show(name: &str, signed_in: &SignedIn, invocation: &Invocation) -> Result<Exit, Failure> {
    let message = format!("Signed in to {}", phrase::quoted(name));
    let expires_at = signed_in.expires_at.map(moment);
    if invocation.ui.json {
        print_json(&LoginJson {
            ok: true,
            name,
            message,
            issuer: &signed_in.issuer,
            account: signed_in.account.as_deref(),
            scopes: &signed_in.scopes,
            expires_at: expires_at.map(rfc3339),
            renewable: signed_in.is_renewable,
            problems: signed_in.warnings.clone(),
        })?;
        return Ok(Exit::Success);
    }
    let mut lines = Lines::default();
    lines.add(style::good(&message));
    lines.labelled("issuer", &clean(&signed_in.issuer));
    if let Some(account) = &signed_in.account {
        lines.labelled("account", &clean(account));
    }
    if !signed_in.scopes.is_empty() {
        lines.labelled("scopes", &clean(&signed_in.scopes.join(" ")));
    }
    if signed_in.is_renewable {
        lines.labelled("renewal", "automatic");
    } else if let Some(at) = expires_at {
        lines.labelled("expires", &time_ago::time_left(at, SystemTime::now()));
    }
    invocation.ui.sentences(&lines.into_text())?;
    Ok(Exit::Success)
}
