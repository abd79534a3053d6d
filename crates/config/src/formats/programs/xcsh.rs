//! xcsh, a fork of oh-my-pi with its own folders. Source: its documentation.

use super::omp::{self, DIALECT};
use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 95,
    dialect: DIALECT,
    finish: omp::apply_lists,
    files: &[
        project(".xcsh/mcp.json"),
        project(".xcsh/.mcp.json"),
        user("~/.xcsh/agent/mcp.json"),
        user("~/.xcsh/agent/.mcp.json"),
        user("~/.xcsh/mcp.json"),
        user("~/.xcsh/.mcp.json"),
    ],
    ..Program::new("xcsh", "xcsh")
};
