//! `mcp.json` and `.mcp.json` in a project: the files that many programs share.
//!
//! They belong to no program, so they stand lowest; the programs known to read them are named.
//! Claude Code keeps a list of those it has switched off, which counts here.

use std::collections::HashSet;

use super::claude;
use super::export::{self, Style};
use super::program::{Dialect, Program, project};
use super::state;

/// Relative to the project.
pub(super) const DOTTED: &str = ".mcp.json";

pub(super) const PROGRAM: Program = Program {
    priority: 5,
    dialect: Dialect::STANDARD,
    finish: |scan, definitions| {
        let off: HashSet<String> = claude::switched_off_in_mcp_json(scan).into_iter().collect();
        let dotted = definitions.iter_mut().filter(|own| own.source.path.ends_with(DOTTED));
        for definition in dotted {
            if off.contains(definition.name.as_str()) {
                state::switch_off(definition, "listed in Claude Code's \"disabledMcpjsonServers\"");
            }
        }
    },
    files: &[
        project("mcp.json").loose().also_read_by(&["oh-my-pi", "pisces", "xcsh"]),
        project(DOTTED).loose().also_read_by(&[
            "Claude Code",
            "Copilot CLI",
            "Warp",
            "JetBrains Air",
            "oh-my-pi",
            "pisces",
            "xcsh",
            "Pi",
        ]),
    ],
    export: Some(&Style {
        kinds: Some(["stdio", "http", "sse"]),
        variable: export::braced,
        project_file: Some(DOTTED),
        ..Style::STANDARD
    }),
    ..Program::new("mcp-json", "mcp.json")
};
