//! Limits how much of a project is read. Its files are untrusted, and reading them must stay fast
//! whatever they contain. User files only have the general size limit of `store`.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use crate::document::Notation;
use crate::problem::Problem;

use super::scan::notation_of;

/// How many bytes all files of a project may have in total.
const TOTAL: u64 = 16 * 1024 * 1024;

/// Counts the bytes read from a project. Clones share the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadBudget {
    used: Rc<Cell<u64>>,
}

impl ReadBudget {
    /// Adds the size of a file, or returns why it must not be read.
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
        let hint = "move other content to another file";
        Err(Box::new(Problem::error("too-large", message).in_file(path).hint(hint)))
    }
}

/// Tells whether a project's file is too large to be read.
pub(crate) fn is_too_large(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.len() > limit(path))
}

/// Returns the limit, far above any real file. TOML and YAML take longer to parse than JSON; TOML
/// takes quadratic time for certain orders of tables.
fn limit(path: &Path) -> u64 {
    match notation_of(path) {
        Notation::Json => 4 * 1024 * 1024,
        #[cfg(feature = "discovery")]
        Notation::Yaml => 1024 * 1024,
        Notation::Toml => 256 * 1024,
    }
}
