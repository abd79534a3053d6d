//! Trae, an editor based on VS Code: `mcpServers`. Source: other integrators.

use super::program::{Dialect, Program, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::EDITOR,
    files: &[user("{config}/Trae/User/mcp.json")],
    ..Program::new("trae", "Trae")
};
