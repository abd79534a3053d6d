//! What is said about servers that are not there, and which exit code they lead to.

use std::sync::Arc;

use serde::Serialize;
use wharf::call::{CallError, Reason};
use wharf::{CollectedList, ServerSnapshot, Snapshot, Status, Unavailable};
use wharf_config::Level;
use wharf_config::text::clean;

use crate::commands::failure::{UntrustedReason, tip};
use crate::commands::{Failure, Invocation};
use crate::ui::{Lines, phrase, style};

/// Why a server contributed nothing, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct ServerErrorJson {
    /// `mcp:<server>`.
    pub(crate) path: String,
    /// What went wrong.
    pub(crate) error: String,
}

impl ServerErrorJson {
    /// Makes the trouble of one server.
    pub(crate) fn new(server: &str, error: String) -> Self {
        Self { path: format!("mcp:{server}"), error }
    }
}

/// A list that is not whole, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct CutListJson {
    server: String,
    list: &'static str,
    reason: String,
}

/// Returns which lists of one kind are not whole.
pub(crate) fn cut_lists<T>(offered: &CollectedList<T>, list: &'static str) -> Vec<CutListJson> {
    let cut = offered.cut.iter();
    cut.map(|(server, cut)| CutListJson {
        server: server.as_str().to_owned(),
        list,
        reason: cut.to_string(),
    })
    .collect()
}

/// Returns the troubles of all servers that are not there and should be.
pub(crate) fn server_errors(snapshot: &Snapshot) -> Vec<ServerErrorJson> {
    let wanted = snapshot.servers().filter(|server| server.status != Status::Disabled);
    let in_trouble = wanted.filter_map(|server| Some((server, server.connection_problem()?)));
    in_trouble.map(|(server, error)| ServerErrorJson::new(server.name.as_str(), error)).collect()
}

/// Says which servers are not there, and what can be done about it; one may be told of elsewhere.
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
            // Nobody asked for the defaults, so it is no warning that one is missing.
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

/// Returns why a server that a verb needs is not there.
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

/// Makes the failure of a request that is no call of a tool.
pub(crate) fn request_failure(mut error: CallError) -> Failure {
    if error.reason == Reason::Refused {
        // What is advised about tools does not help here.
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
            Unavailable::TimedOut { limit, .. } => Self::TimedOut { limit },
            Unavailable::Unknown(unknown) => Self::NotFound { name: unknown.0, nearest: None },
            _ => Self::Cancelled,
        }
    }
}
