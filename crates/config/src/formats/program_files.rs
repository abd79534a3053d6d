//! Switches that programs keep apart from the entries: lists of names and small state files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::discover::{Scan, paths};
use crate::document::Node;
use crate::server::{Definition, SwitchedOff};
use crate::source::Level;

use super::program::{ConfigFile, FileShape, Program};

/// A file that may say more than its servers.
pub(super) struct ProgramFile {
    pub(super) level: Level,
    pub(super) path: PathBuf,
    pub(super) root: Arc<Node>,
}

impl ProgramFile {
    /// Tells whether what this file says counts for a definition. What came with a project says
    /// nothing about the person's own servers.
    pub(super) fn counts_for(&self, definition: &Definition) -> bool {
        self.level != Level::Project || definition.source.level == Level::Project
    }
}

/// Reads all files of the program that these definitions belong to. Those without servers count,
/// too: an administrator's file may hold nothing but a list of names.
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
            Level::User | Level::Builtin => vec![Arc::clone(&scan.working_folder)],
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

/// Reads a list of names; what is no text is passed over.
pub(super) fn names(node: &Node) -> BTreeSet<String> {
    let list = node.as_list().unwrap_or_default();
    list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// Switches a definition off because its owner did so elsewhere.
pub(super) fn switch_off(definition: &mut Definition, reason: impl Into<String>) {
    definition.off = Some(SwitchedOff { reason: reason.into(), by_other_program: true });
}
