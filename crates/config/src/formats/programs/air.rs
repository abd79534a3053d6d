//! JetBrains Air: `.air/mcp.json` in projects; it also reads `.mcp.json`. Source: its manual.

use super::program::{Program, project};

pub(super) const PROGRAM: Program =
    Program { files: &[project(".air/mcp.json")], ..Program::new("air", "JetBrains Air") };
