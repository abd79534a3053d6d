//! Finds a tool by its name or alias, or explains why there is none.

use std::collections::BTreeSet;
use std::sync::Arc;

use wharf::tools::{Tool, ToolMatch};
use wharf::{Snapshot, ToolServers};
use wharf_config::ServerName;
use wharf_config::text::nearest;

use super::server_errors::server_failure;
use crate::commands::Failure;
use crate::ui::phrase;

/// The most candidates that are named for an ambiguous tool.
const MOST_NAMED: usize = 5;

/// Returns a tool by its name or alias, even if it is denied or withheld.
pub(crate) fn find_tool<'a>(
    name: &str,
    snapshot: &'a Snapshot,
    servers: &ToolServers,
) -> Result<&'a Arc<Tool>, Failure> {
    match snapshot.registry().find(name) {
        ToolMatch::Tool(tool) | ToolMatch::Hidden(tool) => Ok(tool),
        ToolMatch::Ambiguous(tools) => {
            let servers = tools.iter().map(|tool| tool.server().as_str()).collect::<BTreeSet<_>>();
            let servers: Vec<String> = servers.into_iter().map(phrase::quoted).collect();
            let names = tools.iter().take(MOST_NAMED).map(|tool| phrase::quoted(tool.name()));
            Err(Failure::Ambiguous {
                what: "Tool",
                name: name.to_owned(),
                servers: servers.join(", "),
                hint: format!("say which one: {}", names.collect::<Vec<_>>().join(" or ")),
            })
        }
        ToolMatch::Unknown => Err(missing(name, snapshot, servers)),
    }
}

/// Explains a missing tool: it is filtered out, its server is not connected, or no server has it.
fn missing(name: &str, snapshot: &Snapshot, servers: &ToolServers) -> Failure {
    if let Some((error, _)) = snapshot.excluded_tool(name) {
        return Failure::Request(Box::new(error));
    }
    let trouble = |server: &ServerName| server_failure(snapshot.server(server.as_str())?);
    let named = servers.named();
    let mut troubles: Vec<Failure> = named.iter().filter_map(trouble).collect();
    // If one of several servers is connected, the tool is reported as not found.
    if !named.is_empty() && troubles.len() == named.len() {
        return troubles.swap_remove(0);
    }
    let servers = snapshot.servers().map(|server| server.name.as_str());
    let near_tool = snapshot.registry().nearest(name).map(phrase::quoted);
    let near_server =
        || nearest(name, servers).map(|server| format!("the server {}", phrase::quoted(server)));
    let meant = near_tool.or_else(near_server).map(|meant| format!("did you mean {meant}?"));
    let hint = meant.or_else(|| not_searched(snapshot));
    Failure::ItemNotFound { what: "Tool", name: name.to_owned(), hint }
}

/// Returns a hint that names the servers that were not searched, because they are not connected.
pub(super) fn not_searched(snapshot: &Snapshot) -> Option<String> {
    let absent = snapshot.servers().filter(|server| server_failure(server).is_some());
    let absent: Vec<&str> = absent.map(|server| server.name.as_str()).collect();
    let are_some = !absent.is_empty();
    are_some
        .then(|| format!("not searched, because not connected: {}", phrase::quoted_list(absent)))
}
