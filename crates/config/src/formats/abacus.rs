//! Abacus.AI: `mcpServers`, or the map alone. From other integrators.

use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    files: &[project(".abacusai/mcp.json").loose(), user("~/.abacusai/mcp.json").loose()],
    ..Program::new("abacus", "Abacus.AI")
};
