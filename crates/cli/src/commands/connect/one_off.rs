//! A server that is given on the command line and configured nowhere: used once, and nothing about
//! it is kept.
//!
//! The person typed it, so there is no question of trust, and a command runs where it was typed.

use serde_json::json;
use wharf::{Options, ToolServers};
use wharf_config::view::CatalogServerView;
use wharf_config::{Catalog, ONE_OFF, ServerName, load_one_off};

use crate::commands::server_args::{ParsedServer, ServerArgs};
use crate::commands::{Failure, Invocation};
use crate::ui::phrase;

/// What such a server is called. Nothing that can be added has a space in its name, so no advice
/// about an entry is given for it.
pub(crate) const SERVER_NAME: &str = "given server";

/// What stands for it in the names of its tools.
const PREFIX: &str = "server";

/// Makes a catalog of the server that the words give; nothing if they give none.
pub(crate) fn catalog(
    words: &ServerArgs,
    invocation: &Invocation,
) -> Result<Option<Catalog>, Failure> {
    let Some(ParsedServer { mut entry, token }) = words.read(SERVER_NAME, invocation)? else {
        return Ok(None);
    };
    let env = &invocation.env;
    entry["prefix"] = json!(PREFIX);
    if entry.get("command").is_some() {
        entry["cwd"] = json!(env.cwd.to_string_lossy());
    }
    if let Some(token) = token {
        // It is a header for this one use; nothing is stored.
        entry["headers"]["Authorization"] = json!(format!("Bearer {}", token.expose()));
    }
    Ok(Some(load_one_off(env, SERVER_NAME, &entry)?))
}

/// Says that no other server can be meant.
pub(crate) fn only_server(catalog: Catalog) -> (Catalog, ToolServers) {
    (catalog, ToolServers::Named(vec![ServerName::new(SERVER_NAME)]))
}

/// Returns what has to be typed again to call a tool of this server: ` --url …` or ` -- …`, without
/// secrets and safe to show; nothing for servers that are configured.
pub(crate) fn repeated_args(catalog: &Catalog) -> String {
    let Some(server) = catalog.servers.first().filter(|_| is_one_off(catalog)) else {
        return String::new();
    };
    let view = CatalogServerView::of(server);
    match &view.url {
        Some(url) => format!(" --url {}", phrase::word(url)),
        None => format!(" -- {}", phrase::what(&view)),
    }
}

/// Keeps nothing about a server that is configured nowhere.
pub(super) fn disable_storage(options: &mut Options, catalog: &Catalog) {
    if is_one_off(catalog) {
        options.cache = None;
        options.pins = None;
        options.logs = None;
    }
}

fn is_one_off(catalog: &Catalog) -> bool {
    let mut servers = catalog.servers.iter();
    servers.any(|server| server.definition.source.provider == ONE_OFF)
}
