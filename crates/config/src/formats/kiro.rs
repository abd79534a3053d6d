//! Kiro: `mcpServers`; its `timeout` limits starting only. From another integrator.

use super::export::{self, Style};
use super::program::{Dialect, Phase, Program, project, user};
use crate::expand::Syntax;

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { timeout_is: Phase::Connect, ..Dialect::STANDARD }.with(Syntax::ENV_COLON),
    files: &[project(".kiro/settings/mcp.json"), user("~/.kiro/settings/mcp.json")],
    export: Some(&Style {
        variable: export::env_colon,
        filters: [None, Some("disabledTools")],
        ..Style::STANDARD
    }),
    ..Program::new("kiro", "Kiro")
};
