//! JetBrains Air: `.air/mcp.json` in projects; it also reads `.mcp.json`. From its documentation.

use super::program::{Program, project};

pub(super) const PROGRAM: Program =
    Program { files: &[project(".air/mcp.json")], ..Program::new("air", "JetBrains Air") };
