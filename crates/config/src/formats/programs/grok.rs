//! Grok Build: `[mcp_servers.<name>]` in TOML, like Codex. Source: other integrators.

use super::codex;
use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect::STANDARD.in_seconds(),
    read_extra_fields: codex::read_extra_fields,
    files: &[
        project(".grok/config.toml").servers(&["mcp_servers"]),
        user("~/.grok/config.toml").servers(&["mcp_servers"]),
    ],
    ..Program::new("grok", "Grok Build")
};
