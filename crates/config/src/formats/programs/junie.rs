//! Junie, the agent of JetBrains: `mcpServers`. Source: its documentation and another integrator.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[project(".junie/mcp/mcp.json"), user("~/.junie/mcp/mcp.json")],
    ..Program::new("junie", "Junie")
};
