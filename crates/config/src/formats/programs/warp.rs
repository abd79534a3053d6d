//! Warp: `.warp/.mcp.json`; it also reads files of many other programs.
//!
//! Source: its documentation. Files of other programs name Warp in `also_read_by`.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".warp/.mcp.json").any_key_or_root(),
        user("~/.warp/.mcp.json").any_key_or_root(),
    ],
    ..Program::new("warp", "Warp")
};
