//! Windsurf: `mcpServers` with `serverUrl` for remote servers and `disabledTools`.
//!
//! Source: its documentation and other integrators. The JetBrains plugin has its own file; no
//! project file is documented.

use crate::expand::Syntax;

use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, user};

pub(super) const PROGRAM: Program = Program {
    priority: 50,
    dialect: Dialect::STANDARD.with(Syntax::ENV_COLON),
    files: &[
        user("~/.codeium/windsurf/mcp_config.json"),
        user("~/.codeium/windsurf-next/mcp_config.json"),
        user("~/.codeium/mcp_config.json"),
    ],
    export: Some(&ExportStyle {
        url: ["serverUrl", "serverUrl"],
        filters: [None, Some("disabledTools")],
        variable: export::env_colon_variable,
        ..ExportStyle::STANDARD
    }),
    ..Program::new("windsurf", "Windsurf")
};
