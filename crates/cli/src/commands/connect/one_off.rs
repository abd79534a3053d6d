//! A server from the command line (`--url` or `-- COMMAND`) that is not configured. It is used
//! once, and nothing about it is stored.
//!
//! The person typed it, so it needs no trust, and its command runs in the working folder.

use serde_json::{Value, json};
use wharf::{Options, ToolServers};
use wharf_config::view::CatalogServerView;
use wharf_config::{Catalog, ONE_OFF, ServerName, load_one_off};

use crate::commands::server_args::{ParsedServer, ServerArgs};
use crate::commands::{Failure, Invocation};
use crate::ui::phrase;

/// The name of such a server. A configured server added by Wharf has no space in its name, so hints
/// can recognize this one, which has no entry.
pub(crate) const SERVER_NAME: &str = "given server";

/// Its part in the names of its tools.
const PREFIX: &str = "server";

/// Returns a catalog with the server from the command line, if there is one.
pub(crate) fn catalog(
    words: &ServerArgs,
    invocation: &Invocation,
) -> Result<Option<Catalog>, Failure> {
    let Some(ParsedServer { entry, token }) = words.read(SERVER_NAME, invocation)? else {
        return Ok(None);
    };
    let env = &invocation.env;
    let mut entry = Value::from(entry);
    entry["prefix"] = json!(PREFIX);
    if entry.get("command").is_some() {
        entry["cwd"] = json!(env.cwd.to_string_lossy());
    }
    if let Some(token) = token {
        // A header, because a token in the credential store would be kept.
        entry["headers"]["Authorization"] = json!(format!("Bearer {}", token.expose()));
    }
    Ok(Some(load_one_off(env, SERVER_NAME, &entry)?))
}

/// Returns the catalog with its only server as the one that has the tool.
pub(crate) fn only_server(catalog: Catalog) -> (Catalog, ToolServers) {
    (catalog, ToolServers::Named(vec![ServerName::new(SERVER_NAME)]))
}

/// Returns the arguments that repeat this server in a usage line: ` --url …` or ` -- …`, with
/// secrets redacted and safe to print; empty for configured servers.
pub(crate) fn repeated_args(catalog: &Catalog) -> String {
    let Some(server) = catalog.servers.first().filter(|_| is_one_off(catalog)) else {
        return String::new();
    };
    let view = CatalogServerView::of(server);
    match &view.url {
        Some(url) => format!(" --url {}", phrase::word(url)),
        None => format!(" -- {}", phrase::command_or_url(&view)),
    }
}

/// Disables cache, pins and logs for a server from the command line.
pub(super) fn disable_storage(options: &mut Options, catalog: &Catalog) {
    if is_one_off(catalog) {
        options.cache = None;
        options.pins = None;
        options.logs = None;
        options.approvals = None;
    }
}

fn is_one_off(catalog: &Catalog) -> bool {
    let mut servers = catalog.servers.iter();
    servers.any(|server| server.definition.source.provider == ONE_OFF)
}
