//! Kimi: `mcpServers`; the folder was renamed, and both names are read. Source: other integrators.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".kimi-code/mcp.json"),
        user("~/.kimi-code/mcp.json"),
        user("~/.kimi/mcp.json"),
    ],
    ..Program::new("kimi", "Kimi")
};
