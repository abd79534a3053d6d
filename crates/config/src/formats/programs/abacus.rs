//! Abacus.AI: `mcpServers`, or the whole file as the map. Source: other integrators.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[
        project(".abacusai/mcp.json").any_key_or_root(),
        user("~/.abacusai/mcp.json").any_key_or_root(),
    ],
    ..Program::new("abacus", "Abacus.AI")
};
