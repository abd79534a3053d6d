//! Sema4.ai Studio: a map of servers. Source: other integrators.

use super::program::{Program, user};

pub(super) const PROGRAM: Program = Program {
    files: &[user("~/.sema4ai/sema4ai-studio/mcp_servers.json").any_key_or_root()],
    ..Program::new("sema4", "Sema4.ai Studio")
};
