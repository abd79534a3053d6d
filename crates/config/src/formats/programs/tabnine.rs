//! Tabnine: a map of servers. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[user("~/.tabnine/mcp_servers.json").any_key_or_root()],
    ..Program::new("tabnine", "Tabnine")
};
