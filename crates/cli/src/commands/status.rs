//! `wharf status`: which servers could start, without starting them.

use std::time::SystemTime;

use clap::Args;
use serde::Serialize;
use wharf::LastAttempt;
use wharf_config::text::clean;
use wharf_config::time::rfc3339;
use wharf_config::{Catalog, DefinitionState};

use super::catalog_history::CatalogHistory;
use super::invocation::{count_states, format_counts};
use super::server_credential::{CredentialState, ServerCredentials, describe, expires_at};
use super::start_check::StartChecker;
use super::{Exit, Failure, Invocation};
use crate::ui::{Cell, Column, Table, phrase, print_json, style, time_ago};

/// Show which servers are ready to start
///
/// Checks for each enabled server whether its program exists, seen from the folder in which it
/// would run, and whether a credential is stored. Nothing is started or contacted, so "url
/// configured" only means that there is a URL. LAST ATTEMPT is the result of the last attempt to
/// connect with the current configuration; if it failed, the server does not count as ready.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf status
  wharf test github              try now
  wharf status --json | jq -r '.servers[] | select(.status != \"ready\") | .name'")]
pub(crate) struct StatusArgs {}

/// The status of a server that could start, but whose last attempt to connect failed.
const FAILED: &str = "last attempt failed";

#[derive(Serialize)]
struct StatusJson<'a> {
    ready: usize,
    total: usize,
    servers: Vec<ServerStatusJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerStatusJson<'a> {
    name: &'a str,
    transport: &'static str,
    status: String,
    credential: CredentialState,
    #[serde(skip)]
    credential_text: Option<String>,
    /// When it expires for good; in UTC, in the format of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<LastAttemptJson<'a>>,
}

#[derive(Serialize)]
struct LastAttemptJson<'a> {
    ok: bool,
    /// In UTC, in the format of RFC 3339.
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip)]
    ago: String,
}

impl<'a> LastAttemptJson<'a> {
    fn of(attempt: &'a LastAttempt, now: SystemTime) -> Self {
        let (at, ago) = (rfc3339(attempt.at), time_ago::time_ago(attempt.at, now));
        Self { ok: attempt.is_ok(), at, error: attempt.error.as_deref(), ago }
    }
}

/// Shows the status of every enabled server.
pub(crate) fn run(_args: &StatusArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = invocation.load()?;
    let (ui, env) = (&invocation.ui, &invocation.env);
    let credentials = ServerCredentials::load(env);
    let history = CatalogHistory::load(&catalog, invocation);
    let now = SystemTime::now();
    let enabled =
        catalog.winners().into_iter().filter(|server| server.state == DefinitionState::Enabled);
    let mut ready = 0;
    let mut servers = Vec::new();
    let starts = StartChecker::of(&catalog, env);
    for server in enabled {
        let launch = starts.check(server);
        let last = history.last_attempt(&server.definition.name);
        let has_failed = launch.is_usable() && last.is_some_and(|last| !last.is_ok());
        ready += usize::from(launch.is_usable() && !has_failed);
        servers.push(ServerStatusJson {
            name: server.definition.name.as_str(),
            transport: server.transport.map_or("unknown", |kind| kind.word()),
            status: if has_failed { FAILED.to_owned() } else { launch.to_string() },
            credential: credentials.state(server, now),
            credential_text: credentials.find(server).map(|one| describe(one, now)),
            credential_expires_at: credentials.find(server).and_then(expires_at),
            last: last.map(|attempt| LastAttemptJson::of(attempt, now)),
        });
    }
    let answer = StatusJson { ready, total: servers.len(), servers };
    if ui.json {
        print_json(&answer)?;
    } else {
        ui.table(table(&answer))?;
        ui.blank_line();
        ui.notice(&format!("{} of {} ready.", answer.ready, answer.total));
    }
    if let Some(others) = others(&catalog) {
        ui.notice(&others);
    }
    Ok(Exit::Success)
}

fn table(answer: &StatusJson<'_>) -> Table {
    let mut table = Table::new(&[
        Column::text("NAME"),
        Column::text("TRANSPORT").droppable_at(0),
        Column::command("STATUS"),
        Column::text("CREDENTIAL").droppable_at(1),
        Column::text("LAST ATTEMPT").shrinking_first_to(24).droppable_at(2),
    ]);
    for server in &answer.servers {
        let paint = match server.status.as_str() {
            "ready" => style::good,
            "url configured" => style::advice,
            _ => style::bad,
        };
        table.row(vec![
            Cell::painted(phrase::name(server.name), style::strong),
            Cell::plain(server.transport),
            Cell::painted(clean(&server.status), paint),
            credential(server),
            last(server.last.as_ref()),
        ]);
    }
    table
}

fn credential(server: &ServerStatusJson<'_>) -> Cell {
    let text = clean(server.credential_text.as_deref().unwrap_or("none"));
    let is_expired = server.credential == CredentialState::Expired;
    Cell::painted(text, if is_expired { style::bad } else { style::faint })
}

fn last(last: Option<&LastAttemptJson<'_>>) -> Cell {
    match last {
        None => Cell::plain(""),
        Some(LastAttemptJson { error: None, ago, .. }) => {
            Cell::painted(format!("connected {ago}"), style::good)
        }
        Some(LastAttemptJson { error: Some(why), ago, .. }) => {
            // The stderr line comes first: it says more, and a narrow table cuts the end.
            let why = match why.split_once("; stderr: ") {
                Some((how, line)) => format!("{line} ({how})"),
                None => (*why).to_owned(),
            };
            Cell::painted(format!("failed {ago}: {}", clean(&why)), style::bad)
        }
    }
}

fn others(catalog: &Catalog) -> Option<String> {
    let states = [DefinitionState::Untrusted, DefinitionState::Invalid, DefinitionState::Disabled];
    let counted = format_counts(count_states(catalog, &states));
    (!counted.is_empty()).then(|| format!("Not checked: {} (`wharf list`).", counted.join(", ")))
}
