//! Kilo Code: opencode's shape under its own names, and the older `.kilocode/mcp.json`.
//!
//! From another integrator.

use crate::document::Node;

use super::opencode;
use super::program::{Program, project, user};
use super::reading::Reading;

pub(super) const PROGRAM: Program = Program {
    dialect: opencode::DIALECT,
    finish: opencode::leave_tools_out,
    files: &[
        project("kilo.jsonc").read_by(read),
        project("kilo.json").read_by(read),
        project(".kilo/kilo.jsonc").read_by(read),
        project(".kilo/kilo.json").read_by(read),
        project(".kilocode/kilo.jsonc").read_by(read),
        project(".kilocode/kilo.json").read_by(read),
        project(".kilocode/mcp.json").read_by(read),
        user("{xdg}/kilo/kilo.jsonc").read_by(read),
        user("{xdg}/kilo/kilo.json").read_by(read),
    ],
    ..Program::new("kilo", "Kilo Code")
};

fn read(root: &Node, reading: &mut Reading<'_>) {
    opencode::read(root, reading);
    if let Some(older) = root.get("mcpServers") {
        // The extension came from Roo Code, which counts in seconds.
        reading.dialect = reading.dialect.in_seconds();
        reading.servers(older, "mcpServers");
    }
}
