//! mcp-cli: `mcpServers` in the shared folder, with its own file name. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        user("{xdg}/mcp/mcp_servers.json").any_key_or_root(),
        user("~/.config/mcp/mcp_servers.json").any_key_or_root(),
    ],
    ..Program::new("mcp-cli", "mcp-cli")
};
