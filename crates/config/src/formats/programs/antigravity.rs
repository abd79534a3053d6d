//! Antigravity: `mcpServers` with `serverUrl`, in Gemini's folder. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        user("~/.gemini/config/mcp_config.json"),
        user("~/.gemini/antigravity/mcp_config.json"),
    ],
    ..Program::new("antigravity", "Antigravity")
};
