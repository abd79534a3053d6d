//! Errors of servers that are not connected: for the screen, for `--json`, and as a [`Failure`].

use std::sync::Arc;

use serde::Serialize;
use wharf::call::{CallError, CallErrorReason};
use wharf::{CollectedList, ServerSnapshot, Snapshot, Status, Unavailable};
use wharf_config::Level;
use wharf_config::text::clean;

use crate::commands::failure::{UntrustedReason, tip};
use crate::commands::{Failure, Invocation};
use crate::ui::{Lines, phrase, style};

/// The error of one server, for `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct ServerErrorJson {
    /// `mcp:<server>`.
    pub(crate) path: String,
    /// The error text.
    pub(crate) error: String,
}

impl ServerErrorJson {
    /// Creates the error of a server.
    pub(crate) fn new(server: &str, error: String) -> Self {
        Self { path: format!("mcp:{server}"), error }
    }
}

/// A list that was cut, for `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct CutListJson {
    server: String,
    list: &'static str,
    reason: String,
}

/// Returns the lists of one kind that were cut.
pub(crate) fn cut_lists<T>(collected: &CollectedList<T>, list: &'static str) -> Vec<CutListJson> {
    let cut = collected.cut.iter();
    cut.map(|(server, cut)| CutListJson {
        server: server.as_str().to_owned(),
        list,
        reason: cut.to_string(),
    })
    .collect()
}

/// Returns the errors of all enabled servers that are not connected.
pub(crate) fn server_errors(snapshot: &Snapshot) -> Vec<ServerErrorJson> {
    let wanted = snapshot.servers().filter(|server| server.status != Status::Disabled);
    let in_trouble = wanted.filter_map(|server| Some((server, server.connection_problem()?)));
    in_trouble.map(|(server, error)| ServerErrorJson::new(server.name.as_str(), error)).collect()
}

/// Prints a warning for each server that failed, except for one that is reported elsewhere.
pub(super) fn print_server_errors(
    snapshot: &Snapshot,
    except: Option<&ServerSnapshot>,
    invocation: &Invocation,
) {
    let is_excepted = |server: &ServerSnapshot| except.is_some_and(|it| it.name == server.name);
    for server in snapshot.servers().filter(|server| !is_excepted(server)) {
        let Some(failure) = server.failure.as_ref().filter(|_| is_unavailable(server)) else {
            continue;
        };
        let name = phrase::quoted(server.name.as_str());
        if server.source.level == Level::Builtin {
            // The person did not configure the defaults, so a missing one is only a note.
            let why = clean(&failure.in_one_line());
            invocation.ui.notice(&format!("note: the default {name} is not available: {why}"));
            continue;
        }
        let mut lines = Lines::default();
        let message = clean(&failure.message);
        lines.add(format!("{} Failed to connect to {name}: {message}", style::warning("warning:")));
        if let Some(line) = wharf::last_meaningful_line(&failure.stderr) {
            lines.add(format!("  {} {line}", style::faint("stderr:")));
        }
        lines.hint("  ", tip(server.name.as_str(), failure).as_deref());
        invocation.ui.notice(lines.into_text().trim_end());
    }
}

fn is_unavailable(server: &ServerSnapshot) -> bool {
    !matches!(server.status, Status::Connected | Status::Disabled | Status::Untrusted)
}

/// Returns the failure of a server that a verb needs.
pub(crate) fn server_failure(server: &ServerSnapshot) -> Option<Failure> {
    let name = server.name.as_str().to_owned();
    match (server.status, &server.failure) {
        (Status::Untrusted, _) => Some(Failure::Untrusted { name, why: UntrustedReason::New }),
        (Status::Disabled, _) => Some(Failure::Disabled { name }),
        (Status::Failed | Status::NeedsAuth | Status::Reconnecting, Some(failure)) => {
            Some(Failure::NotConnected { name, failure: Arc::clone(failure) })
        }
        _ => None,
    }
}

/// Converts the error of a request that is not a tool call.
pub(crate) fn request_failure(mut error: CallError) -> Failure {
    if error.reason == CallErrorReason::ErrorResponse {
        // The hint is about tools.
        error.hint = None;
    }
    Failure::Request(Box::new(error))
}

impl From<Unavailable> for Failure {
    fn from(why: Unavailable) -> Self {
        match why {
            Unavailable::Untrusted(name) => {
                Self::Untrusted { name: name.as_str().to_owned(), why: UntrustedReason::New }
            }
            Unavailable::Disabled(name) => Self::Disabled { name: name.as_str().to_owned() },
            Unavailable::Failed { server, failure } => {
                Self::NotConnected { name: server.as_str().to_owned(), failure }
            }
            Unavailable::TimedOut { server, limit } => {
                Self::NotConnectedInTime { name: server.as_str().to_owned(), limit }
            }
            Unavailable::Unknown(unknown) => Self::NotFound { name: unknown.0, nearest: None },
            _ => Self::Cancelled,
        }
    }
}
