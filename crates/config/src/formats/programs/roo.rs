//! Roo Code: a settings file in an editor's storage, and `.roo/mcp.json` in projects.
//!
//! Source: its code. It has `streamable-http`, timeouts in seconds, `alwaysAllow` (displayed, never
//! honoured) and `disabledTools`.

use super::program::{Dialect, Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { timeout_range: Some((1.0, 3600.0)), ..Dialect::EDITOR }.in_seconds(),
    files: &[
        project(".roo/mcp.json"),
        user(
            "{config}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ),
        user(
            "{config}/Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ),
        user(
            "{config}/Cursor/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ),
    ],
    ..Program::new("roo", "Roo Code")
};
