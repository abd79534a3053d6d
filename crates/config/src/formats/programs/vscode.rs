//! VS Code: `servers` at the top of `mcp.json`, not `mcpServers`.
//!
//! Source: its code and documentation. Profiles have their own copy, older settings have
//! `mcp.servers`, a dev container can define servers. Only VS Code can ask for `inputs`, so
//! `${input:…}` is a warning. The list of disabled servers is in a database, which is not read.

use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, project, user};
use crate::expand::Syntax;

const SERVERS: &[&str] = &["servers"];
const IN_SETTINGS: &[&str] = &["mcp", "servers"];
const IN_CONTAINER: &[&str] = &["customizations", "vscode", "mcp", "servers"];

pub(super) const PROGRAM: Program = Program {
    priority: 20,
    dialect: Dialect::EDITOR.with(Syntax::INPUT),
    read_extra_fields: |map, entry| {
        if let Some(node) = map.get("sandboxEnabled").filter(|node| node.as_bool() == Some(true)) {
            entry.unsupported("sandboxEnabled", node, "VS Code runs it in a sandbox");
        }
    },
    files: &[
        project(".vscode/mcp.json").servers(SERVERS),
        project(".vscode/settings.json").servers(IN_SETTINGS),
        project(".devcontainer/devcontainer.json").servers(IN_CONTAINER),
        project(".devcontainer.json").servers(IN_CONTAINER),
        project(".devcontainer/*/devcontainer.json").servers(IN_CONTAINER),
        user("{config}/Code/User/mcp.json").servers(SERVERS),
        user("{config}/Code/User/profiles/*/mcp.json").servers(SERVERS),
        user("{config}/Code/User/settings.json").servers(IN_SETTINGS),
        user("{config}/Code/User/profiles/*/settings.json").servers(IN_SETTINGS),
        user("{config}/Code - Insiders/User/mcp.json").servers(SERVERS),
        user("{config}/Code - Insiders/User/profiles/*/mcp.json").servers(SERVERS),
        user("{config}/Code - Insiders/User/settings.json").servers(IN_SETTINGS),
        user("{config}/VSCodium/User/mcp.json").servers(SERVERS),
        user("{config}/VSCodium/User/settings.json").servers(IN_SETTINGS),
        user("~/.vscode-server/data/User/mcp.json").servers(SERVERS),
        user("~/.vscode-server/data/Machine/mcp.json").servers(SERVERS),
    ],
    export: Some(&ExportStyle {
        type_words: Some(["stdio", "http", "sse"]),
        has_cwd: true,
        keys: SERVERS,
        variable: export::env_colon_variable,
        ..ExportStyle::STANDARD
    }),
    ..Program::new("vscode", "VS Code")
};
