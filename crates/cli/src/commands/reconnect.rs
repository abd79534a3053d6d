//! `wharf reconnect NAME`: connects to a server again, regardless of earlier failures.

use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use wharf::{Runtime, ServerSnapshot, Unavailable};
use wharf_config::Problem;
use wharf_config::text::clean;

use super::report::ErrorReport;
use super::test::warn;
use super::{Exit, Failure, Invocation, connect};
use crate::ui::{phrase, print_json};

/// Reconnect to a server
///
/// Wharf stops connecting to a server that failed too often. This verb connects to it again as if
/// for the first time, and lists its tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf reconnect github

Exit codes: 3 could not connect, 4 sign-in needed, 5 timeout, 6 not trusted.")]
pub(crate) struct ReconnectArgs {
    /// The server's name
    name: String,
}

#[derive(Serialize)]
struct ReconnectJson<'a> {
    ok: bool,
    name: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
    /// Values that were omitted from its configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// Reconnects a server.
pub(crate) fn run(args: &ReconnectArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = match connect::select_one(&args.name, invocation) {
        Ok(catalog) => catalog,
        Err(failure) => return failed(&args.name, failure, invocation),
    };
    let work = async |runtime: &Runtime| runtime.wait_for(&args.name).await;
    connect::with_servers(invocation, &catalog, work, |result| show(&args.name, result, invocation))
}

fn show(
    name: &str,
    result: Result<Arc<ServerSnapshot>, Unavailable>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    match result {
        Ok(server) => {
            let message = message(&server);
            if invocation.ui.json {
                print_json(&ReconnectJson {
                    ok: true,
                    name,
                    message,
                    hint: None,
                    stderr: None,
                    error: None,
                    problems: server.omitted_values(),
                })?;
            } else {
                invocation.ui.sentences(&format!("{}\n", clean(&message)))?;
            }
            warn(&server, invocation);
            Ok(Exit::Success)
        }
        Err(why) => failed(name, why.into(), invocation),
    }
}

fn failed(name: &str, failure: Failure, invocation: &Invocation) -> Result<Exit, Failure> {
    if invocation.ui.json {
        let (message, hint, stderr) = (failure.to_string(), failure.hint(), failure.stderr());
        let (error, problems) = (Some(ErrorReport::of(&failure)), Vec::new());
        print_json(&ReconnectJson { ok: false, name, message, hint, stderr, error, problems })?;
    }
    Err(failure)
}

fn message(server: &ServerSnapshot) -> String {
    let name = phrase::quoted(server.name.as_str());
    let tools = phrase::count(server.tools(), "tool");
    match &server.info {
        Some(about) => {
            let itself = format!("{} {}", about.name, about.version);
            format!("Connected to {name}: {}, {tools}", itself.trim())
        }
        None => format!("Connected to {name}: {tools}"),
    }
}
