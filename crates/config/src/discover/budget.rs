//! Bounds what a project can make us read: its files come from a stranger, and looking at them must
//! stay quick whatever is in them. The person's own files only have the general limit of `store`.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use crate::document::Notation;
use crate::problem::Problem;

use super::scan::notation_of;

/// What all files of a project may take together.
const TOTAL: u64 = 16 * 1024 * 1024;

/// How much of a project has been read. Clones share it, so that every reader of one look counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadBudget {
    used: Rc<Cell<u64>>,
}

impl ReadBudget {
    /// Takes a file into account, or says why it is not read.
    pub(crate) fn take(&self, path: &Path) -> Result<(), Box<Problem>> {
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        let message = if size > limit(path) {
            format!(
                "larger than {} KiB; a project's file of this size is not read",
                limit(path) / 1024
            )
        } else if self.used.get() + size > TOTAL {
            format!(
                "the files of this project take more than {} MiB; this one is not read",
                TOTAL >> 20
            )
        } else {
            self.used.set(self.used.get() + size);
            return Ok(());
        };
        let hint = "move what is not about servers to another file";
        Err(Box::new(Problem::error("too-large", message).in_file(path).hint(hint)))
    }
}

/// Tells whether a project's file is too large to be read.
pub(crate) fn is_too_large(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.len() > limit(path))
}

/// Far above any real file. The parsers of TOML and YAML need more time for the same size, that of
/// TOML quadratic time for certain orders of tables.
fn limit(path: &Path) -> u64 {
    match notation_of(path) {
        Notation::Json => 4 * 1024 * 1024,
        Notation::Yaml => 1024 * 1024,
        Notation::Toml => 256 * 1024,
    }
}
