//! Kiro: `mcpServers`; its `timeout` limits only the start. Source: another integrator.

use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, TimeoutKind, project, user};
use crate::expand::Syntax;

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { timeout_kind: TimeoutKind::Connect, ..Dialect::STANDARD }
        .with(Syntax::ENV_COLON),
    files: &[project(".kiro/settings/mcp.json"), user("~/.kiro/settings/mcp.json")],
    export: Some(&ExportStyle {
        variable: export::env_colon_variable,
        filters: [None, Some("disabledTools")],
        ..ExportStyle::STANDARD
    }),
    ..Program::new("kiro", "Kiro")
};
