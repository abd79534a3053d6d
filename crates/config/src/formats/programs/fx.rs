//! fx: `mcpServers`. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program =
    Program { files: &[user("~/.fx/mcp.json")], ..Program::new("fx", "fx") };
