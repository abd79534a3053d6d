//! `wharf status`: what could be started right now, found out without starting anything.

use clap::Args;
use serde::Serialize;
use wharf_config::text::clean;
use wharf_config::{Catalog, Credentials, Env, Level, Server, State, Transport, command};

use super::invocation::counted;
use super::{Exit, Failure, Invocation};
use crate::ui::{Cell, Column, Table, phrase, print_json, style};

/// Show which servers are ready to start
///
/// Looks for the program of each enabled server on PATH and for stored credentials. Nothing is
/// started and no address is contacted, so "url configured" says only that there is one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf status
  wharf status --json | jq -r '.servers[] | select(.status != \"ready\") | .name'")]
pub(crate) struct StatusArgs {}

#[derive(Serialize)]
struct Answer<'a> {
    ready: usize,
    total: usize,
    servers: Vec<ServerStatus<'a>>,
}

#[derive(Serialize)]
struct ServerStatus<'a> {
    name: &'a str,
    transport: &'static str,
    status: String,
    credential: &'static str,
}

/// Shows the status of every enabled server.
pub(crate) fn run(_args: &StatusArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = invocation.load()?;
    let (ui, env) = (&invocation.ui, &invocation.env);
    // A store that cannot be read has no credentials to offer; `doctor` says what is wrong with it.
    let credentials = Credentials::load(env).unwrap_or_default();
    let enabled = catalog.winners().into_iter().filter(|server| server.state == State::Enabled);
    let mut ready = 0;
    let mut servers = Vec::new();
    for server in enabled {
        let launch = look(server, env);
        ready += usize::from(launch.is_usable());
        servers.push(ServerStatus {
            name: server.definition.name.as_str(),
            transport: server.transport.map_or("unknown", |kind| kind.word()),
            status: launch.to_string(),
            credential: credential(server, &credentials),
        });
    }
    let answer = Answer { ready, total: servers.len(), servers };
    if ui.json {
        print_json(&answer)?;
    } else {
        ui.table(table(&answer))?;
        ui.gap();
        ui.notice(&format!("{} of {} ready.", answer.ready, answer.total));
    }
    if let Some(others) = others(&catalog) {
        ui.notice(&others);
    }
    Ok(Exit::Fine)
}

fn table(answer: &Answer<'_>) -> Table {
    let mut table = Table::new(&[
        Column::text("NAME"),
        Column::text("TRANSPORT"),
        Column::text("STATUS"),
        Column::text("CREDENTIAL"),
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
            Cell::painted(server.credential, style::faint),
        ]);
    }
    table
}

fn others(catalog: &Catalog) -> Option<String> {
    let states = [State::Untrusted, State::Invalid, State::Disabled];
    let counted = counted(catalog, &states);
    (!counted.is_empty()).then(|| format!("Not looked at: {} (wharf list).", counted.join(", ")))
}

/// What is known of a server's start without starting it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Launch {
    /// Its program is there.
    Ready,
    /// Its program is not there; this is how the entry names it.
    NotFound(String),
    /// There is an address; whether it answers is not known.
    UrlConfigured,
}

impl Launch {
    /// Tells whether nothing is known to be missing.
    pub(crate) fn is_usable(&self) -> bool {
        !matches!(self, Self::NotFound(_))
    }
}

impl std::fmt::Display for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::NotFound(command) => write!(f, "{command} not found"),
            Self::UrlConfigured => f.write_str("url configured"),
        }
    }
}

/// Looks for what an enabled server needs to start.
pub(crate) fn look(server: &Server, env: &Env) -> Launch {
    let definition = &server.definition;
    let Some(spec) = &server.spec else { return Launch::UrlConfigured };
    let Transport::Stdio(launch) = &spec.transport else { return Launch::UrlConfigured };
    let written = definition.fields.command.as_ref().map_or("", |command| command.text.as_str());
    // The built-in server is this very program, wherever it lies.
    if definition.source.level == Level::Builtin && written == "wharf" {
        return Launch::Ready;
    }
    let folder = match &launch.cwd {
        Some(cwd) => env.path_from(cwd.expose(), &definition.folder),
        None => definition.folder.to_path_buf(),
    };
    match command::find(launch.command.expose(), env, &folder) {
        Some(_) => Launch::Ready,
        // As written: what was expanded may be secret.
        None => Launch::NotFound(written.to_owned()),
    }
}

fn credential(server: &Server, credentials: &Credentials) -> &'static str {
    let auth = server.definition.fields.auth.as_ref();
    let id = auth.and_then(|auth| auth.credential_id.as_deref());
    match id.and_then(|id| credentials.get(id)) {
        Some(_) => "stored",
        None => "none",
    }
}
