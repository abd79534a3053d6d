//! LM Studio: `mcpServers`; older versions had the file in the cache folder.
//!
//! Source: another integrator and its issue tracker.

use super::export::ExportStyle;
use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[user("~/.lmstudio/mcp.json"), user("~/.cache/lm-studio/mcp.json")],
    export: Some(&ExportStyle::STANDARD),
    ..Program::new("lmstudio", "LM Studio")
};
