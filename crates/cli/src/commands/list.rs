//! `wharf list`: every server with its state, its source and its problems. Never connects.

use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::time::SystemTime;

use clap::Args;
use wharf::LastAttempt;
use wharf_config::text::{clean, clip};
use wharf_config::view::{CatalogServerView, CatalogView};
use wharf_config::{Catalog, DefinitionState, Env, Level, Server, Source};

use super::catalog_history::CatalogHistory;
use super::defaults;
use super::invocation::{count_state, count_states, format_counts};
use super::server_credential::{CredentialState, ServerCredentials};
use super::{Exit, Failure, Invocation};
use crate::ui::{Cell, Column, Paint, Table, phrase, print_json, style, time_ago};

/// List the servers of all programs
///
/// Shows the winning definition of each name, its state, and the file it comes from; columns that
/// do not fit the terminal are left off. Nothing is started or contacted: TOOLS is the number of
/// tools at the last connection, if it is known.
///
/// States: enabled, failed (enabled, but the last attempt to connect failed), disabled (switched
/// off), untrusted (it came with this project, see `wharf trust`), invalid (its entry is incomplete
/// or wrong), and with --all also "shadowed by" (another definition has the name) and "duplicate
/// of" (the same server is used under that name).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf list
  wharf list --all               also the shadowed definitions and duplicates
  wharf list --project ~/app
  wharf list --json | jq -r '.servers[].name'")]
pub(crate) struct ListArgs {
    /// Also show shadowed definitions and duplicates
    #[arg(long)]
    pub(crate) all: bool,
}

/// Lists the servers.
pub(crate) fn run(args: &ListArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    // The process ends after the listing, so freeing the catalog would only take time.
    let catalog = ManuallyDrop::new(invocation.load()?);
    let (ui, env) = (&invocation.ui, &invocation.env);
    let history = CatalogHistory::load(&catalog, invocation);
    let (credentials, now) = (ServerCredentials::load(env), SystemTime::now());
    if ui.json {
        let mut listing = CatalogView::of(&catalog, args.all);
        for server in &mut listing.servers {
            let winner = catalog.winner(server.name.as_str());
            let state = winner
                .filter(|_| server.shadowed_by.is_none())
                .map(|server| credentials.state(server, now));
            server.credential = state.and_then(CredentialState::stored_word);
            server.tools_known = history.tools(server);
            server.last_error = history.last_failure(server).and_then(|last| last.error.clone());
        }
        print_json(&listing)?;
        return Ok(Exit::Success);
    }
    let all = if args.all { catalog.all() } else { catalog.winners() };
    let listed: Vec<&Server> = all
        .into_iter()
        .filter(|server| args.all || server.state != DefinitionState::Duplicate)
        .collect();
    ui.table(table(&listed, &history, env))?;
    ui.blank_line();
    let own = listed.iter().flat_map(|server| &server.problems);
    // `load` has printed the problems that concern every verb.
    let others = catalog.problems.iter().filter(|problem| !problem.concerns_every_verb());
    ui.problems(others.chain(own), env);
    let tried =
        listed.iter().map(|server| (server, history.last_failure(&CatalogServerView::of(server))));
    let failures: Vec<_> = tried.filter_map(|(server, last)| Some((server, last?))).collect();
    for (server, last) in &failures {
        ui.notice(&failed(server, last));
    }
    for server in listed.iter().filter(|server| server.state == DefinitionState::Enabled) {
        if credentials.state(server, now) == CredentialState::Expired {
            ui.notice(&expired(server));
        }
    }
    ui.notice(&summary(&catalog, failures.len(), args.all));
    defaults::print_notice(&catalog, env, ui);
    if let Some(hint) = trust_hint(&catalog) {
        ui.hint(&hint);
    }
    Ok(Exit::Success)
}

fn table(servers: &[&Server], history: &CatalogHistory, env: &Env) -> Table {
    let mut table = Table::new(&[
        Column::text("NAME"),
        Column::text("STATE"),
        Column::text("TRANSPORT").droppable_at(1),
        Column::text("TOOLS").droppable_at(2),
        Column::command("WHAT").shrinking_first_to(24),
        Column::parts("SOURCE").droppable_at(3),
        Column::path("FILE").shrinking_first_to(18).droppable_at(0),
    ]);
    for server in servers {
        let view = CatalogServerView::of(server);
        let tools = history.tools(&view).map(|number| number.to_string()).unwrap_or_default();
        let quiet = matches!(
            server.state,
            DefinitionState::Shadowed | DefinitionState::Duplicate | DefinitionState::Disabled
        );
        let paint: Paint = if quiet { style::faint } else { str::to_owned };
        table.row(vec![
            Cell::painted(
                phrase::name(view.name.as_str()),
                if quiet { paint } else { style::strong },
            ),
            match history.last_failure(&view) {
                Some(_) => Cell::painted("failed", style::bad),
                None => Cell::painted(state(server), style::state_colour(server.state)),
            },
            Cell::painted(view.transport, paint),
            Cell::painted(tools, paint),
            Cell::painted(phrase::command_or_url(&view), paint),
            Cell::painted(phrase::source(view.source), paint),
            Cell::painted(file(view.source, env), style::faint),
        ]);
    }
    table
}

/// Formats the state, with the definition that is used instead.
fn state(server: &Server) -> Cow<'static, str> {
    let word = server.state.word();
    let instead = match (&server.shadowed_by, &server.duplicate_of) {
        (Some(by), _) => format!("by {}", owner(by, &server.definition.source)),
        (None, Some(original)) => format!("of {}", phrase::name(original.as_str())),
        (None, None) => return word.into(),
    };
    format!("{word} {instead}").into()
}

/// Names the program of a source, with its level if both sources belong to one program.
fn owner(source: &Source, other: &Source) -> String {
    match source.level {
        Level::Env => clean(&source.path.to_string_lossy()),
        level if source.provider == other.provider && level != other.level => {
            phrase::source(source)
        }
        _ => clean(source.provider_name),
    }
}

/// Formats a path, relative to the working folder for a project file.
fn file(source: &Source, env: &Env) -> String {
    match (source.level, source.path.strip_prefix(&env.cwd)) {
        (Level::Builtin, _) => String::new(),
        (Level::Project, Ok(below)) => clean(&below.to_string_lossy()),
        _ => phrase::path(&source.path, env),
    }
}

/// Formats the warning about a failed last attempt.
fn failed(server: &Server, last: &LastAttempt) -> String {
    let name = server.definition.name.as_str();
    let ago = time_ago::time_ago(last.at, SystemTime::now());
    let why = clean(last.error.as_deref().unwrap_or_default());
    let (label, quoted) = (style::warning("warning:"), phrase::quoted(name));
    format!(
        "{label} {quoted}: its last attempt failed {ago}: {why} (`wharf test {}`)",
        phrase::word(name)
    )
}

/// Formats the warning about a credential that has expired for good.
fn expired(server: &Server) -> String {
    let name = server.definition.name.as_str();
    let (label, quoted) = (style::warning("warning:"), phrase::quoted(name));
    format!("{label} {quoted}: its sign-in has expired (`wharf login {}`)", phrase::word(name))
}

/// Counts the servers by state, on one line. A server whose last attempt failed counts as `failed`,
/// as in the table.
fn summary(catalog: &Catalog, failed: usize, all: bool) -> String {
    let states = [
        DefinitionState::Untrusted,
        DefinitionState::Invalid,
        DefinitionState::Disabled,
        DefinitionState::Native,
    ];
    let (shadowed, duplicates) = (
        count_state(catalog, DefinitionState::Shadowed),
        count_state(catalog, DefinitionState::Duplicate),
    );
    let number = phrase::count(catalog.servers.len() - shadowed - duplicates, "server");
    let enabled = count_state(catalog, DefinitionState::Enabled) - failed;
    let connectable = [(enabled, DefinitionState::Enabled.word()), (failed, "failed")];
    let counted = format_counts(connectable.into_iter().chain(count_states(catalog, &states)));
    let first = if counted.is_empty() {
        format!("{number}.")
    } else {
        format!("{number}: {}.", counted.join(", "))
    };
    let hidden = match (shadowed, duplicates) {
        (0, 0) => return first,
        (0, 1) => "1 more is a duplicate".to_owned(),
        (0, _) => format!("{duplicates} more are duplicates"),
        (1, 0) => "1 more is shadowed".to_owned(),
        (_, 0) => format!("{shadowed} more are shadowed"),
        (_, _) => {
            let copies = phrase::count(duplicates, "duplicate");
            format!("{} more are not used: {shadowed} shadowed, {copies}", shadowed + duplicates)
        }
    };
    if all {
        format!("{first} {hidden}.")
    } else {
        format!("{first} {hidden} (`wharf list --all`).")
    }
}

/// Suggests `wharf trust` if there are untrusted servers.
fn trust_hint(catalog: &Catalog) -> Option<String> {
    let untrusted: Vec<&Server> = catalog
        .servers
        .iter()
        .filter(|server| server.state == DefinitionState::Untrusted)
        .collect();
    let names = untrusted.iter().map(|server| phrase::word(server.definition.name.as_str()));
    match untrusted.len() {
        0 => None,
        1..=3 => Some(format!(
            "to use the servers of this project: `wharf trust {}`",
            names.map(|name| clip(&name, 100)).collect::<Vec<_>>().join(" ")
        )),
        _ => Some("to use the servers of this project: `wharf trust NAME…` (or --all)".to_owned()),
    }
}
