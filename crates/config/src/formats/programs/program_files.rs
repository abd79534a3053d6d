//! Reads a program's files again for settings beside the servers, such as lists of disabled ones.
//!
//! A project file may not switch off servers of the person; `counts_for` checks this.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::discover::{Scan, paths};
use crate::document::Node;
use crate::server::{Definition, SwitchedOff};
use crate::source::Level;

use super::program::{ConfigFile, FileShape, Program};

/// A parsed file of a program.
pub(super) struct ProgramFile {
    pub(super) level: Level,
    pub(super) path: PathBuf,
    pub(super) root: Arc<Node>,
}

impl ProgramFile {
    /// Tells whether the settings in this file apply to a definition. Settings of a project do not
    /// apply to user servers.
    pub(super) fn counts_for(&self, definition: &Definition) -> bool {
        self.level != Level::Project || definition.source.level == Level::Project
    }
}

/// Reads all files of the program to which these definitions belong, also files without servers: an
/// administrator's file may contain only a list of names.
pub(super) fn read_for_definitions(
    scan: &mut Scan<'_>,
    definitions: &[Definition],
) -> Vec<ProgramFile> {
    let provider = definitions.first().map(|own| own.source.provider);
    provider
        .and_then(super::program)
        .map(|program| read_for_program(scan, program))
        .unwrap_or_default()
}

/// Reads all files of a program.
pub(super) fn read_for_program(scan: &mut Scan<'_>, program: &Program) -> Vec<ProgramFile> {
    let mut found = Vec::new();
    let readable = |file: &&ConfigFile| !matches!(file.shape, FileShape::Notice(_));
    for file in program.files.iter().filter(readable) {
        let level = file.level;
        let folders = match level {
            Level::Project => scan.folders.clone(),
            Level::Program | Level::User | Level::Builtin => {
                vec![Arc::clone(&scan.working_folder)]
            }
            Level::Env => {
                let path = PathBuf::from(file.template.linux);
                let root = scan.variable(&path);
                found.extend(root.map(|root| ProgramFile { level, path, root }));
                continue;
            }
        };
        for path in folders.iter().flat_map(|folder| paths(&file.template, scan.env, folder)) {
            let root = scan.document(&path);
            found.extend(root.map(|root| ProgramFile { level, path, root }));
        }
    }
    found
}

/// Reads a list of names; values that are not strings are skipped.
pub(super) fn names(node: &Node) -> BTreeSet<String> {
    let list = node.as_list().unwrap_or_default();
    list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// Marks a definition as switched off by its own program.
pub(super) fn switch_off(definition: &mut Definition, reason: impl Into<String>) {
    definition.off = Some(SwitchedOff { reason: reason.into(), by_other_program: true });
}
