//! Warp: a file of its own beside the many of other programs that it reads.
//!
//! From its own documentation; those others are named as also read by Warp where they belong.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[project(".warp/.mcp.json").loose(), user("~/.warp/.mcp.json").loose()],
    ..Program::new("warp", "Warp")
};
