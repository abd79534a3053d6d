//! Cursor: `mcpServers` with its own `${env:X}`, `${userHome}`, `${workspaceFolder}`, and
//! `envFile`.
//!
//! From its documentation and other integrators. Remote entries need no `type`; a client that was
//! registered beforehand stands in `auth`.

use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 50,
    dialect: Dialect::EDITOR,
    files: &[project(".cursor/mcp.json"), user("~/.cursor/mcp.json")],
    export: Some(&ExportStyle { variable: export::env_colon_variable, ..ExportStyle::STANDARD }),
    ..Program::new("cursor", "Cursor")
};
