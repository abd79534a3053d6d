//! co-cli: `mcp_servers` in its settings; if a project file has `mcp_servers`, the user's servers
//! are not used.
//!
//! Source: its design document. `timeout` limits the start, in seconds, 1 to 60, 10 by default.
//! Its `approval` values are the same as ours. JSON in `CO_CLI_MCP_SERVERS` (or else
//! `CO_MCP_SERVERS`) replaces both files.

use std::path::Path;
use std::sync::Arc;

use crate::discover::Scan;
use crate::server::Definition;
use crate::source::{Level, Source};

use super::program::{Dialect, Program, TimeoutKind, project, user, variable};

/// The first one that is set is used.
const VARIABLES: [&str; 2] = ["CO_CLI_MCP_SERVERS", "CO_MCP_SERVERS"];

pub(super) const PROGRAM: Program = Program {
    priority: 90,
    dialect: Dialect {
        native: true,
        timeout_kind: TimeoutKind::Connect,
        timeout_range: Some((1.0, 60.0)),
        ..Dialect::STANDARD
    }
    .in_seconds(),
    read_extra_fields: |_, entry| {
        let timeouts = &mut entry.fields.timeouts;
        timeouts.connect = timeouts.connect.or(Some(10_000));
    },
    finish: replace_by_variable,
    files: &[
        variable(VARIABLES[0]),
        variable(VARIABLES[1]),
        project(".co-cli/settings.json").servers(&["mcp_servers"]),
        user("{xdg}/co-cli/settings.json").servers(&["mcp_servers"]),
        user("~/.config/co-cli/settings.json").servers(&["mcp_servers"]),
    ],
    project_replaces_user: true,
    ..Program::new("co-cli", "co-cli")
};

/// The first variable that is set replaces all other files, even if it has no servers.
fn replace_by_variable(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let is_set =
        |name: &&str| scan.variable(Path::new(name)).is_some_and(|root| root.as_map().is_some());
    let Some(name) = VARIABLES.into_iter().find(is_set) else { return };
    let source = Arc::new(Source {
        provider: PROGRAM.id,
        provider_name: PROGRAM.name,
        level: Level::Env,
        path: name.into(),
        also_read_by: &[],
    });
    for other in definitions.iter_mut().filter(|other| other.source.path != source.path) {
        other.replaced_by = Some(Arc::clone(&source));
    }
}
