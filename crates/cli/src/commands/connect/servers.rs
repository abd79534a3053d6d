//! Selects the servers that a verb connects to, and handles untrusted ones.
//!
//! On a terminal the verb asks whether to trust them. Elsewhere they are skipped with a notice, and
//! a verb that names an untrusted server fails.

use wharf::ToolServers;
use wharf_config::text::escape_invisible;
use wharf_config::trust::Trust;
use wharf_config::{Catalog, DefinitionState, Server};

use crate::commands::invocation::find_server;
use crate::commands::{Failure, Invocation, trust};
use crate::ui::phrase;

/// The most changed fields that are named in one line.
const MOST_FIELDS: usize = 4;

/// Loads all servers, and asks about untrusted ones.
pub(crate) fn select_all(invocation: &Invocation) -> Result<Catalog, Failure> {
    let catalog = invocation.load()?;
    let untrusted = with_state(&catalog, DefinitionState::Untrusted);
    // A refused definition is not asked about again until it changes.
    let (open, skipped): (Vec<&Server>, Vec<&Server>) = untrusted
        .into_iter()
        .partition(|server| invocation.ui.can_ask && server.trust != Trust::Refused);
    for server in skipped {
        invocation.ui.notice(&skip_line(server));
    }
    if !open.is_empty() && trust::ask_in_place(&open, &catalog, invocation)? {
        return Ok(invocation.load_quietly()?);
    }
    Ok(catalog)
}

/// Tells whether a server of this name is defined, in any state.
pub(crate) fn is_server(name: &str, invocation: &Invocation) -> Result<bool, Failure> {
    Ok(invocation.load_quietly()?.candidates(name).next().is_some())
}

/// Formats the notice about a skipped server.
fn skip_line(server: &Server) -> String {
    let name = server.definition.name.as_str();
    let (quoted, word) = (phrase::quoted(name), phrase::word(name));
    match &server.trust {
        Trust::Refused => {
            format!("skipped {quoted}: you refused it (`wharf trust {word}` asks again)")
        }
        Trust::Changed(differences) => {
            let mut fields: Vec<String> = differences
                .iter()
                .take(MOST_FIELDS)
                .map(|own| escape_invisible(&own.field))
                .collect();
            if differences.len() > MOST_FIELDS {
                fields.push(format!("{} more", differences.len() - MOST_FIELDS));
            }
            let fields = fields.join(", ");
            format!(
                "skipped {quoted}: it has changed since you trusted it: {fields} \
                 (`wharf explain {word}` shows how)"
            )
        }
        _ => format!(
            "skipped {quoted}: it is new in this project and not trusted (`wharf trust {word}`)"
        ),
    }
}

/// Splits `server/name` if the server exists; the longest matching server name is used.
pub(crate) fn split_server(
    text: &str,
    invocation: &Invocation,
) -> Result<Option<(String, String)>, Failure> {
    if !text.contains('/') {
        return Ok(None);
    }
    let catalog = invocation.load_quietly()?;
    let names = catalog.servers.iter().map(|server| server.definition.name.as_str());
    let rest = |name: &str| text.strip_prefix(name)?.strip_prefix('/').filter(|it| !it.is_empty());
    let parts = names.filter_map(|name| Some((name.to_owned(), rest(name)?.to_owned())));
    Ok(parts.max_by_key(|(name, _)| name.len()))
}

/// Loads one server by its name, and removes all others from the catalog.
pub(crate) fn select_one(name: &str, invocation: &Invocation) -> Result<Catalog, Failure> {
    let mut catalog = invocation.load()?;
    if let [untrusted] = named(&catalog, name, DefinitionState::Untrusted)[..]
        && invocation.ui.can_ask
        && untrusted.trust != Trust::Refused
        && trust::ask_in_place(&[untrusted], &catalog, invocation)?
    {
        catalog = invocation.load_quietly()?;
    }
    check_usable(find_server(&catalog, name)?)?;
    keep_servers(&mut catalog, |server| server.definition.name.as_str() == name);
    Ok(catalog)
}

/// Loads the servers that could have the tool that a text names, and removes all others from the
/// catalog. Keeps all servers if nothing is known about the tool.
pub(crate) fn select_for_tool(
    text: &str,
    invocation: &Invocation,
) -> Result<(Catalog, ToolServers), Failure> {
    let mut catalog = invocation.load()?;
    let options = super::session::options(invocation, &catalog);
    let servers = wharf::servers_of_tool(text, &catalog, &options);
    if servers == ToolServers::Any {
        return Ok((catalog, servers));
    }
    let is_meant = |server: &Server| servers.includes(server.definition.name.as_str());
    let untrusted = with_state(&catalog, DefinitionState::Untrusted);
    let is_open = |it: &&Server| is_meant(it) && it.trust != Trust::Refused;
    let untrusted: Vec<&Server> = untrusted.into_iter().filter(is_open).collect();
    if !untrusted.is_empty()
        && invocation.ui.can_ask
        && trust::ask_in_place(&untrusted, &catalog, invocation)?
    {
        catalog = invocation.load_quietly()?;
    }
    let meant: Vec<&Server> =
        catalog.winners().into_iter().filter(|server| is_meant(server)).collect();
    // If one of several is enabled, its list decides whether the tool exists.
    if !meant.iter().any(|server| server.state == DefinitionState::Enabled) {
        let named = servers.named().first().map_or(text, |name| name.as_str());
        let found = find_server(&catalog, named)?;
        check_usable(found)?;
        check_valid(found, invocation)?;
    }
    keep_servers(&mut catalog, is_meant);
    Ok((catalog, servers))
}

/// Keeps only the wanted servers in a catalog.
pub(crate) fn keep_servers(catalog: &mut Catalog, is_wanted: impl Fn(&Server) -> bool) {
    catalog.keep_only(is_wanted);
}

/// Fails if a definition is invalid, with the place to correct.
fn check_valid(server: &Server, invocation: &Invocation) -> Result<(), Failure> {
    if server.state != DefinitionState::Invalid {
        return Ok(());
    }
    let problem = server.problems.iter().find(|problem| problem.is_error());
    let why = problem.map_or("its entry is incomplete", |problem| problem.message.as_str());
    let line = problem.and_then(|problem| problem.line).unwrap_or(server.definition.line);
    let place = phrase::place(&server.definition.source, line, &invocation.env);
    let fix = match problem.and_then(|problem| problem.hint.as_deref()) {
        Some(hint) => format!("{hint} ({place})"),
        None => format!("correct it in {place}"),
    };
    let name = server.definition.name.as_str().to_owned();
    Err(Failure::Invalid { name, why: why.to_owned(), hint: fix })
}

fn check_usable(server: &Server) -> Result<(), Failure> {
    let name = server.definition.name.as_str().to_owned();
    let word = phrase::word(&name);
    match server.state {
        DefinitionState::Enabled | DefinitionState::Invalid => Ok(()),
        DefinitionState::Disabled => Err(Failure::Disabled { name }),
        DefinitionState::Untrusted => Err(Failure::untrusted(server)),
        DefinitionState::Duplicate => {
            let other = server.duplicate_of.as_ref().map_or("", |name| name.as_str());
            let why = format!("it is the same server as {}", phrase::quoted(other));
            let hint = format!("use {}", phrase::quoted(other));
            Err(Failure::NotUsed { name, why, hint })
        }
        DefinitionState::Native => {
            let why = "native web search is enabled, so Exa servers are not connected".to_owned();
            Err(Failure::NotUsed { name, why, hint: format!("`wharf explain {word}`") })
        }
        DefinitionState::Shadowed => {
            let why = "all of its definitions are shadowed".to_owned();
            Err(Failure::NotUsed { name, why, hint: format!("`wharf explain {word}`") })
        }
    }
}

fn with_state(catalog: &Catalog, state: DefinitionState) -> Vec<&Server> {
    catalog.winners().into_iter().filter(|server| server.state == state).collect()
}

fn named<'a>(catalog: &'a Catalog, name: &str, state: DefinitionState) -> Vec<&'a Server> {
    let winner = catalog.winner(name).filter(|server| server.state == state);
    winner.into_iter().collect()
}
