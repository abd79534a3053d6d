//! Factory Droid and its Bridge app: `mcpServers`. Source: its documentation and other integrators;
//! the project file is unverified.

use super::program::{Program, project, user, user_on};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".factory/mcp.json"),
        user("~/.factory/mcp.json"),
        user_on("", "{config}/Factory Bridge/mcp.json", "{config}/Factory Bridge/mcp.json"),
    ],
    ..Program::new("factory", "Factory Droid")
};
