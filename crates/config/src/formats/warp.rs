//! Warp: a file of its own beside the many of other programs that it reads.
//!
//! From its own documentation; those others are named as also read by Warp where they belong.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".warp/.mcp.json").any_key_or_root(),
        user("~/.warp/.mcp.json").any_key_or_root(),
    ],
    ..Program::new("warp", "Warp")
};
