//! oh-my-pi, and the format that its forks pisces and xcsh share.
//!
//! Source: its documentation and code. The fields are ours, with `timeout` in milliseconds;
//! `enabled` and `timeout` may be strings; `disabledServers` and `enabledServers` are lists.

use std::collections::BTreeSet;

use crate::discover::Scan;
use crate::server::Definition;
use crate::source::Level;

use super::program::{Dialect, Program, project, user};
use super::program_files::{self, ProgramFile};

/// How oh-my-pi and its forks read an entry.
pub(super) const DIALECT: Dialect = Dialect { quoted_scalars: true, ..Dialect::NATIVE };

pub(super) const PROGRAM: Program = Program {
    priority: 95,
    dialect: DIALECT,
    finish: apply_lists,
    files: &[
        project(".omp/mcp.json"),
        project(".omp/.mcp.json"),
        user("~/.omp/agent/mcp.json"),
        user("~/.omp/agent/.mcp.json"),
        user("~/.omp/mcp.json"),
        user("~/.omp/.mcp.json"),
    ],
    ..Program::new("omp", "oh-my-pi")
};

/// Applies the lists beside the map: a user list applies to all files, a project list to its file.
pub(super) fn apply_lists(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = program_files::read_for_definitions(scan, definitions);
    let lists = |key| {
        let named =
            files.iter().filter_map(|file| Some((file, program_files::names(file.root.get(key)?))));
        named.collect::<Vec<_>>()
    };
    let (off, on) = (lists("disabledServers"), lists("enabledServers"));
    for definition in definitions {
        let is_in = |lists: &[(&ProgramFile, BTreeSet<String>)]| {
            lists.iter().any(|(file, names)| {
                let counts = file.level == Level::User || file.path == definition.source.path;
                counts && names.contains(definition.name.as_str())
            })
        };
        if is_in(&off) {
            program_files::switch_off(definition, "listed in \"disabledServers\"");
        } else if is_in(&on) {
            definition.off = None;
        }
    }
}
