//! Mastra Code: `mcpServers`. Source: other integrators.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[project(".mastracode/mcp.json"), user("~/.mastracode/mcp.json")],
    ..Program::new("mastra", "Mastra Code")
};
