//! Amazon Q: `mcpServers`, also in its default agent. Source: other integrators; the project file
//! is unverified.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".amazonq/mcp.json"),
        user("~/.aws/amazonq/mcp.json"),
        user("~/.aws/amazonq/agents/default.json"),
    ],
    ..Program::new("amazonq", "Amazon Q")
};
