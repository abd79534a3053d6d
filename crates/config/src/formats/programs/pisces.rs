//! pisces, a fork of oh-my-pi with its own folders. Source: its documentation.

use super::omp::{self, DIALECT};
use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 95,
    dialect: DIALECT,
    finish: omp::apply_lists,
    files: &[
        project(".pisces/mcp.json"),
        project(".pisces/.mcp.json"),
        user("~/.pisces/agent/mcp.json"),
        user("~/.pisces/agent/.mcp.json"),
        user("~/.pisces/mcp.json"),
        user("~/.pisces/.mcp.json"),
    ],
    ..Program::new("pisces", "pisces")
};
