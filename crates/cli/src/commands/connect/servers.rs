//! Which servers a verb connects to, and what happens to those that nobody has agreed to.
//!
//! On a terminal the trust question is asked in place. Elsewhere they are left out with a line that
//! says so, and a verb that names one fails.

use wharf::ToolServers;
use wharf_config::{Catalog, Server, State};

use crate::commands::invocation::find;
use crate::commands::{Failure, Invocation, trust};
use crate::ui::phrase;

/// Finds every server, and asks about those that are not trusted.
pub(crate) fn all(invocation: &Invocation) -> Result<Catalog, Failure> {
    let catalog = invocation.load()?;
    let untrusted = with_state(&catalog, State::Untrusted);
    if untrusted.is_empty() {
        return Ok(catalog);
    }
    if invocation.ui.can_ask {
        let has_agreed = trust::ask_in_place(&untrusted, invocation)?;
        return if has_agreed { Ok(invocation.load_quietly()?) } else { Ok(catalog) };
    }
    for server in untrusted {
        let name = server.definition.name.as_str();
        invocation.ui.notice(&format!(
            "skipped {}: it came with this project and is not trusted (wharf trust {})",
            phrase::quoted(name),
            phrase::word(name)
        ));
    }
    Ok(catalog)
}

/// Tells whether a name is that of a server, whatever became of it.
pub(crate) fn is_server(name: &str, invocation: &Invocation) -> Result<bool, Failure> {
    Ok(invocation.load_quietly()?.candidates(name).next().is_some())
}

/// Finds one server that is to be connected, and leaves out all others.
pub(crate) fn only(name: &str, invocation: &Invocation) -> Result<Catalog, Failure> {
    let mut catalog = invocation.load()?;
    if let [untrusted] = named(&catalog, name, State::Untrusted)[..]
        && invocation.ui.can_ask
        && trust::ask_in_place(&[untrusted], invocation)?
    {
        catalog = invocation.load_quietly()?;
    }
    check_usable(find(&catalog, name)?)?;
    narrow(&mut catalog, |server| server.definition.name.as_str() == name);
    Ok(catalog)
}

/// Finds the servers that could offer the tool that a text names, and leaves out all others; all of
/// them if nothing is known about it.
pub(crate) fn for_tool(
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
    let untrusted = with_state(&catalog, State::Untrusted);
    let untrusted: Vec<&Server> = untrusted.into_iter().filter(|it| is_meant(it)).collect();
    if !untrusted.is_empty()
        && invocation.ui.can_ask
        && trust::ask_in_place(&untrusted, invocation)?
    {
        catalog = invocation.load_quietly()?;
    }
    let meant: Vec<&Server> =
        catalog.winners().into_iter().filter(|server| is_meant(server)).collect();
    // If one of several could be used, what it lists decides.
    if !meant.iter().any(|server| check_usable(server).is_ok()) {
        let named = servers.named().first().map_or(text, |name| name.as_str());
        check_usable(find(&catalog, named)?)?;
    }
    narrow(&mut catalog, is_meant);
    Ok((catalog, servers))
}

/// Leaves only those servers that are wanted.
pub(crate) fn narrow(catalog: &mut Catalog, is_wanted: impl Fn(&Server) -> bool) {
    catalog.keep_only(is_wanted);
}

fn check_usable(server: &Server) -> Result<(), Failure> {
    let name = server.definition.name.as_str().to_owned();
    let word = phrase::word(&name);
    match server.state {
        State::Enabled | State::Invalid => Ok(()),
        State::Disabled => Err(Failure::Disabled { name }),
        State::Untrusted => Err(Failure::Untrusted { name }),
        State::Duplicate => {
            let other = server.duplicate_of.as_ref().map_or("", |name| name.as_str());
            let why = format!("it is the same server as {}", phrase::quoted(other));
            let hint = format!("use {}", phrase::quoted(other));
            Err(Failure::NotUsed { name, why, hint })
        }
        State::Native => {
            let why = "it is handled by the session itself".to_owned();
            Err(Failure::NotUsed { name, why, hint: format!("wharf explain {word}") })
        }
        State::Shadowed => {
            let why = "every definition of it is hidden".to_owned();
            Err(Failure::NotUsed { name, why, hint: format!("wharf explain {word}") })
        }
    }
}

fn with_state(catalog: &Catalog, state: State) -> Vec<&Server> {
    catalog.winners().into_iter().filter(|server| server.state == state).collect()
}

fn named<'a>(catalog: &'a Catalog, name: &str, state: State) -> Vec<&'a Server> {
    let winner = catalog.winner(name).filter(|server| server.state == state);
    winner.into_iter().collect()
}
