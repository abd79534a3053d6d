//! Pi: `mcpServers`, as its MCP adapter reads it. Source: the code of the adapter.
//!
//! `$env:VAR` is also a placeholder, and a bearer token has its own field.

use crate::expand::Syntax;

use super::mcporter;
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.with(Syntax::POWERSHELL),
    read_extra_fields: mcporter::add_bearer_token_header,
    files: &[project(".pi/mcp.json"), user("~/.pi/agent/mcp.json")],
    ..Program::new("pi", "Pi")
};
