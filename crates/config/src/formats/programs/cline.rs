//! Cline: its own settings file, or the older one in an editor's storage.
//!
//! Source: its code. `timeout` is in seconds, 1 to 3600; `autoApprove` is displayed, not honoured.

use super::program::{Dialect, Program, user};
use crate::expand::Syntax;

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { timeout_range: Some((1.0, 3600.0)), ..Dialect::STANDARD }
        .in_seconds()
        .with(Syntax::ENV_COLON),
    files: &[
        user("${CLINE_MCP_SETTINGS_PATH}"),
        user("${CLINE_DIR:-~/.cline}/data/settings/cline_mcp_settings.json"),
        user(
            "{config}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        user(
            "{config}/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        user(
            "{config}/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        user(
            "{config}/VSCodium/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
    ],
    ..Program::new("cline", "Cline")
};
