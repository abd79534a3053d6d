//! oh-my-pi, and the shape its forks pisces and xcsh share with it.
//!
//! From its own documentation and source: our fields with `timeout` in milliseconds, `enabled`
//! and `timeout` also as strings, `disabledServers` and `enabledServers` beside the map.

use std::sync::Arc;

use crate::discover::Scan;
use crate::server::Definition;
use crate::source::Level;

use super::program::{Dialect, Program, project, user};
use super::state::{self, StateFile};

/// How the family reads an entry.
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

/// Applies the lists beside the map: a person's list counts for all files, a project's for its own.
pub(super) fn apply_lists(scan: &mut Scan<'_>, definitions: &mut [Definition]) {
    let files = state::files(scan, definitions);
    for definition in definitions {
        let source = Arc::clone(&definition.source);
        let counts = |file: &&StateFile| file.level == Level::User || file.path == source.path;
        let name = definition.name.as_str();
        let is_in = |key| {
            let lists = files.iter().filter(counts).filter_map(|file| file.root.get(key));
            lists.map(state::names).any(|names| names.contains(name))
        };
        if is_in("disabledServers") {
            state::switch_off(definition, "listed in \"disabledServers\"");
        } else if is_in("enabledServers") {
            definition.off = None;
        }
    }
}
