//! `mcp.json` and `.mcp.json` in a project: files that many programs share.
//!
//! They belong to no program, so they have the lowest priority; `also_read_by` names the programs
//! that read them. Claude Code's list of switched-off servers is applied here.

use std::collections::HashSet;

use super::claude;
use super::export::{self, ExportStyle};
use super::program::{Dialect, Program, project};
use super::program_files;

/// Relative to the project.
pub(super) const DOT_MCP_JSON: &str = ".mcp.json";

pub(super) const PROGRAM: Program = Program {
    priority: 5,
    dialect: Dialect::STANDARD,
    finish: |scan, definitions| {
        let off: HashSet<String> = claude::switched_off_in_mcp_json(scan).into_iter().collect();
        let in_dot_mcp_json =
            definitions.iter_mut().filter(|own| own.source.path.ends_with(DOT_MCP_JSON));
        for definition in in_dot_mcp_json {
            if off.contains(definition.name.as_str()) {
                program_files::switch_off(
                    definition,
                    "listed in Claude Code's \"disabledMcpjsonServers\"",
                );
            }
        }
    },
    files: &[
        project("mcp.json").any_key_or_root().also_read_by(&["oh-my-pi", "pisces", "xcsh"]),
        project(DOT_MCP_JSON).any_key_or_root().also_read_by(&[
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
    export: Some(&ExportStyle {
        type_words: Some(["stdio", "http", "sse"]),
        variable: export::braced_variable,
        project_file: Some(DOT_MCP_JSON),
        ..ExportStyle::STANDARD
    }),
    ..Program::new("mcp-json", "mcp.json")
};
