//! The readers of all programs' files, for fuzzing them with any document on an empty machine.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::discover::{self, Discovery, notation_of};
use crate::document::{self, Map, Node, Notation, ParsedDocument};
use crate::env::{Env, Platform};
use crate::formats::{ConfigFile, FileShape, PROGRAMS, Program};
use crate::source::Level;

use super::FOLDER;
use super::canary;

/// YAML aliases can expand to far more values, which would only take time.
const MAX_NODES: usize = 5_000;

/// A machine without files.
pub(super) static EMPTY_MACHINE: LazyLock<Env> = LazyLock::new(|| {
    Env::new(Platform::Linux, FOLDER)
        .with_home("/nowhere/home")
        .with_system_root("/nowhere/system")
        .with_variable("SET", "value")
});

/// The files of all programs, without files that are read in the same way as another.
pub(super) static PROGRAM_READERS: LazyLock<Vec<ProgramReader>> = LazyLock::new(|| {
    let mut known = HashSet::new();
    let files = PROGRAMS.iter().flat_map(|program| {
        program.files.iter().map(|file| ProgramReader { program, file, path: path_of(file) })
    });
    files.filter(|reader| reader.deduplication_key().is_some_and(|key| known.insert(key))).collect()
});

/// A file of a program, with a path.
pub(super) struct ProgramReader {
    pub(super) program: &'static Program,
    pub(super) file: &'static ConfigFile,
    path: PathBuf,
}

impl ProgramReader {
    pub(super) fn notation(&self) -> Notation {
        notation_of(&self.path)
    }

    /// Reads a document as this file.
    pub(super) fn read(&self, parsed: &ParsedDocument) -> Discovery {
        discover::read_document(&EMPTY_MACHINE, self.program, self.file, &self.path, parsed.clone())
    }

    /// Returns a key that is equal for files that are read in the same way; `None` if not read.
    fn deduplication_key(&self) -> Option<String> {
        let shape = match &self.file.shape {
            FileShape::Servers(keys) => keys.join("."),
            FileShape::AnyKeyOrRoot => String::new(),
            FileShape::Custom(read) => format!("{read:p}"),
            FileShape::Notice(_) => return None,
        };
        let extension = self.path.extension().unwrap_or_default().display();
        let is_dedicated = self.path.to_string_lossy().contains("mcp");
        let (program, level) = (self.program.id, self.file.level.word());
        Some(format!("{program} {level} {shape} {extension} {is_dedicated}"))
    }
}

/// Returns the path of a file, with fixed names for wildcards.
fn path_of(file: &ConfigFile) -> PathBuf {
    let template = &file.template;
    let text = if template.linux.is_empty() { template.windows } else { template.linux };
    match discover::paths(template, &EMPTY_MACHINE, Path::new(FOLDER)).pop() {
        _ if file.level == Level::Env => text.into(),
        Some(path) => path,
        None => Path::new(FOLDER).join(text.replace("**", "a/b").replace('*', "c")),
    }
}

/// Parses a text and adds the canary; `None` if it cannot be parsed or is too large.
pub(super) fn parse_with_canary(text: &str, notation: Notation) -> Option<ParsedDocument> {
    let mut parsed = document::parse(text, notation).ok()?;
    if canary::is_in(text) || count(&parsed.root) > MAX_NODES {
        return None;
    }
    canary::plant(&mut parsed.root);
    Some(parsed)
}

fn count(node: &Node) -> usize {
    let items = node.as_list().unwrap_or_default().iter();
    let values = node.as_map().into_iter().flat_map(Map::iter).map(|(_, value)| value);
    1 + items.chain(values).map(count).sum::<usize>()
}
