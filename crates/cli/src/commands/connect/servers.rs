//! Which servers a verb connects to, and what happens to those that nobody has agreed to.
//!
//! On a terminal the trust question is asked in place. Elsewhere they are left out with a line that
//! says so, and a verb that names one fails.

use wharf_config::{Catalog, Server, State};

use crate::commands::invocation::find;
use crate::commands::{Failure, Invocation, trust};
use crate::ui::phrase;

/// How many letters of a server's name are in the names of its tools, however long both are.
const SURELY_KEPT: usize = 40;

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

/// Finds the servers that may have a tool, going by its name; all of them if none looks like it.
///
/// The name of a tool begins with that of its server. Two servers whose tools could have the same
/// name both look like it, so who has it is decided among the same servers as in a full listing.
pub(crate) fn suspects(tool: &str, invocation: &Invocation) -> Result<Catalog, Failure> {
    let mut catalog = invocation.load()?;
    let is_suspect = |server: &Server| may_have(server, tool);
    if !catalog.winners().into_iter().any(is_suspect) {
        return Ok(catalog);
    }
    let untrusted = with_state(&catalog, State::Untrusted);
    let untrusted: Vec<&Server> = untrusted.into_iter().filter(|it| is_suspect(it)).collect();
    if !untrusted.is_empty()
        && invocation.ui.can_ask
        && trust::ask_in_place(&untrusted, invocation)?
    {
        catalog = invocation.load_quietly()?;
    }
    narrow(&mut catalog, is_suspect);
    Ok(catalog)
}

/// Leaves only those servers that are wanted.
pub(crate) fn narrow(catalog: &mut Catalog, is_wanted: impl Fn(&Server) -> bool) {
    catalog.servers.retain(is_wanted);
}

/// Tells whether a server may have a tool, going by the tool's name or alias.
pub(super) fn may_have(server: &Server, tool: &str) -> bool {
    let definition = &server.definition;
    let prefix = definition.fields.policy.prefix.as_deref();
    begins_with(tool, definition.name.as_str())
        || prefix.is_some_and(|prefix| begins_with(tool, prefix))
}

/// Tells whether the name or alias of a tool may begin with that of a server.
fn begins_with(tool: &str, server: &str) -> bool {
    if tool.strip_prefix(server).is_some_and(|rest| rest.starts_with(['/', '.'])) {
        return true;
    }
    let (tool, server) = (letters(tool), letters(server));
    let tool = tool.strip_prefix("mcp_").unwrap_or(&tool);
    let server = if server.is_empty() { "server" } else { &server };
    // Names that are too long are cut, but never before this many letters of the server.
    match server.get(..SURELY_KEPT) {
        Some(beginning) => tool.starts_with(beginning),
        None => tool.strip_prefix(server).is_some_and(|rest| rest.starts_with('_')),
    }
}

/// Writes a name in small letters with single bars between, which is what all ways of writing a
/// tool's name have in common.
fn letters(name: &str) -> String {
    let mut letters = String::new();
    for c in name.to_lowercase().chars() {
        let c = if c.is_ascii_lowercase() { c } else { '_' };
        if c != '_' || !letters.ends_with('_') {
            letters.push(c);
        }
    }
    letters.trim_matches('_').to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_looked_for_where_its_name_begins() {
        let long = "a".repeat(100);
        let cases = [
            ("mcp_context_query_docs", "context7", true),
            ("mcp__context7__query_docs", "context7", true),
            ("context7/query", "context7", true),
            ("context7.query", "context7", true),
            ("mcp_fs_read", "fs", true),
            ("mcp_fs_read", "f", false),
            ("mcp_fs_read", "fs_read", false),
            ("mcp_a_b_c", "a-b", true),
            ("mcp_server_bank", "123", true),
            ("日本/box_x", "日本", true),
            ("日本/box_x", "box", true),
            ("anything", "box", false),
            (&format!("mcp_{}_abcdef", "a".repeat(53)), &long, true),
            ("mcp_a_x", &long, false),
        ];
        for (tool, server, expected) in cases {
            assert_eq!(begins_with(tool, server), expected, "{tool} {server}");
        }
    }

    #[test]
    fn all_ways_to_write_a_name_have_their_letters_in_common() {
        let cases = [
            ("mcp_context_query_docs", "mcp_context_query_docs"),
            ("mcp__context7__query_docs", "mcp_context_query_docs"),
            ("context7/query-docs", "context_query_docs"),
            ("Context7.Query", "context_query"),
            ("日本/検索", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(letters(name), expected, "{name}");
        }
    }
}
