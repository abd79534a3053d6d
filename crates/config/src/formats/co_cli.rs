//! co-cli: `mcp_servers` in its settings; a project's map replaces the person's whole.
//!
//! From its design document: `timeout` in seconds limits starting, 1 to 60, 10 by default. Its
//! `approval` words are ours. A variable with JSON replaces both files.

use std::sync::Arc;

use crate::discover::Scan;
use crate::server::Definition;
use crate::source::Level;

use super::program::{Dialect, Phase, Program, project, user, variable};

pub(super) const PROGRAM: Program = Program {
    priority: 90,
    dialect: Dialect {
        native: true,
        timeout_is: Phase::Connect,
        timeout_range: Some((1.0, 60.0)),
        ..Dialect::STANDARD
    }
    .in_seconds(),
    own_fields: |_, entry| {
        let timeouts = &mut entry.fields.timeouts;
        timeouts.connect = timeouts.connect.or(Some(10_000));
    },
    finish: replace_by_variable,
    files: &[
        variable("CO_CLI_MCP_SERVERS"),
        variable("CO_MCP_SERVERS"),
        project(".co-cli/settings.json").servers(&["mcp_servers"]),
        user("{xdg}/co-cli/settings.json").servers(&["mcp_servers"]),
    ],
    project_replaces_user: true,
    ..Program::new("co-cli", "co-cli")
};

/// The first variable that is set replaces everything below it.
fn replace_by_variable(_: &mut Scan<'_>, definitions: &mut [Definition]) {
    let Some(first) = definitions.iter().find(|own| own.source.level == Level::Env) else { return };
    let source = Arc::clone(&first.source);
    for other in definitions.iter_mut().filter(|other| other.source != source) {
        other.replaced_by = Some(Arc::clone(&source));
    }
}
