//! Finds the tool that somebody means, or says why it is not there.

use std::collections::BTreeSet;
use std::sync::Arc;

use wharf::tools::{Found, Tool};
use wharf::{Snapshot, ToolServers};

use super::trouble::of_server;
use crate::commands::Failure;
use crate::ui::phrase;

/// How many tools that could be meant are named.
const MOST_NAMED: usize = 5;

/// Returns a tool by its name or alias, also one that is denied or withheld.
pub(crate) fn tool<'a>(
    name: &str,
    snapshot: &'a Snapshot,
    servers: &ToolServers,
) -> Result<&'a Arc<Tool>, Failure> {
    match snapshot.registry().find(name) {
        Found::Tool(tool) | Found::Hidden(tool) => Ok(tool),
        Found::Ambiguous(tools) => {
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
        Found::Unknown => Err(missing(name, snapshot, servers)),
    }
}

/// Says that there is no such tool; if a server that could have it is not there, that this is why.
fn missing(name: &str, snapshot: &Snapshot, servers: &ToolServers) -> Failure {
    let named = servers.named().iter();
    let mut absent = named.filter_map(|server| of_server(snapshot.server(server.as_str())?));
    absent.next().unwrap_or_else(|| {
        let nearest = snapshot.registry().nearest(name);
        let hint = nearest.map(|nearest| format!("did you mean {}?", phrase::quoted(nearest)));
        Failure::NotOffered { what: "Tool", name: name.to_owned(), hint }
    })
}
