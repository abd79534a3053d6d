//! Cursor: `mcpServers` with `${env:X}`, `${userHome}`, `${workspaceFolder}`, and `envFile`.
//!
//! Source: its documentation and other integrators. Remote entries do not need a `type`; a
//! pre-registered OAuth client is in `auth`.

use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 50,
    dialect: Dialect::EDITOR,
    files: &[project(".cursor/mcp.json"), user("~/.cursor/mcp.json")],
    export: Some(&ExportStyle { variable: export::env_colon_variable, ..ExportStyle::STANDARD }),
    ..Program::new("cursor", "Cursor")
};
