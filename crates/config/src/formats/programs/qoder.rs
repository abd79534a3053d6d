//! Qoder: `mcpServers`; on Windows in `SharedClientCache`. Source: other integrators.

use super::program::{Program, user, user_on};

pub(super) const PROGRAM: Program = Program {
    files: &[
        user("~/.qoder/mcp.json"),
        user_on("", "", "{appdata}/Qoder/SharedClientCache/mcp.json"),
    ],
    ..Program::new("qoder", "Qoder")
};
