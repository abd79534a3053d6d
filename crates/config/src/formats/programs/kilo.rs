//! Kilo Code: opencode's format in its own files, and the older `.kilocode/mcp.json`.
//!
//! Source: another integrator.

use crate::document::Node;

use super::file_reader::FileReader;
use super::opencode;
use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    dialect: opencode::DIALECT,
    finish: opencode::apply_tool_switches,
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

fn read(root: &Node, reader: &mut FileReader<'_>) {
    opencode::read(root, reader);
    if let Some(older) = root.get("mcpServers") {
        // The extension is a fork of Roo Code, which uses seconds.
        reader.dialect = reader.dialect.in_seconds();
        reader.read_servers(older, "mcpServers");
    }
}
