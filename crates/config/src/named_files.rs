//! Reads the files that definitions name (`envFile`, `{file:…}`, helpers), each once per load.
//!
//! The bytes that are hashed for trust must be the bytes that are used, so both are read here. A
//! path is resolved to the real file first: `/proc/self/cwd`, `..` and symbolic links must not hide
//! that a file belongs to the repository.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::discover::repository_root;
use crate::env::Env;
use crate::real_path::{is_on_other_share, real_path};
use crate::server::Definition;
use crate::source::Level;
use crate::store;

/// The size limit of one file that a project's definition names.
const MAX_PROJECT_FILE_BYTES: u64 = 1024 * 1024;

/// The size limit of all files together that project definitions name.
const MAX_PROJECT_TOTAL_BYTES: u64 = 16 * 1024 * 1024;

/// The files that were read during one load.
#[derive(Default)]
pub(crate) struct NamedFiles {
    read: RefCell<HashMap<PathBuf, Arc<NamedFile>>>,
    /// Bytes read so far for definitions of projects.
    spent: Cell<u64>,
}

/// A file that a definition names, as it was when it was first read.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// Its real path; none if it does not exist.
    pub(crate) real: Option<PathBuf>,
    /// Its contents; none if it cannot be read.
    pub(crate) text: Option<Arc<str>>,
}

impl NamedFiles {
    /// Returns a file that a definition of this level and folder names; only the first call for a
    /// path reads it. A project gets nothing from a network share, unless it is on that share.
    pub(crate) fn read(&self, path: &Path, level: Level, folder: &Path) -> Arc<NamedFile> {
        if level == Level::Project && is_on_other_share(path, folder) {
            return Arc::new(NamedFile { real: None, text: None });
        }
        if let Some(known) = self.read.borrow().get(path) {
            return Arc::clone(known);
        }
        let file = Arc::new(self.read_now(path, level));
        self.read.borrow_mut().insert(path.to_owned(), Arc::clone(&file));
        file
    }

    fn read_now(&self, path: &Path, level: Level) -> NamedFile {
        // The real path is opened, so that the file which is checked is the file which is read.
        let Ok(real) = real_path(path) else { return NamedFile { real: None, text: None } };
        let most = match level {
            Level::Project => {
                MAX_PROJECT_FILE_BYTES.min(MAX_PROJECT_TOTAL_BYTES - self.spent.get())
            }
            Level::Program | Level::Env | Level::User | Level::Builtin => store::MAX_FILE_BYTES,
        };
        let text: Option<Arc<str>> = store::read_at_most(&real, most).ok().flatten().map(Arc::from);
        if let (Level::Project, Some(text)) = (level, &text) {
            self.spent.set(self.spent.get() + text.len() as u64);
        }
        NamedFile { real: Some(real), text }
    }
}

/// Shows the number of files, never their contents.
impl fmt::Debug for NamedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedFiles")
            .field("read", &self.read.borrow().len())
            .finish_non_exhaustive()
    }
}

/// The repository that contains a definition.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    root: PathBuf,
    real_root: PathBuf,
}

impl Repository {
    /// Finds the repository of a definition; without one, the folder of the definition is used.
    pub(crate) fn of(definition: &Definition) -> Self {
        let folder: &Path = &definition.folder;
        let root = repository_root(folder).unwrap_or_else(|| folder.to_owned());
        let real_root = real_path(&root).unwrap_or_else(|_| root.clone());
        Self { root, real_root }
    }

    /// Returns its root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Tells whether a path or its real path is inside the repository.
    pub(crate) fn contains(&self, path: &Path, real: Option<&Path>) -> bool {
        normalize(path).starts_with(&self.root)
            || real.is_some_and(|real| real.starts_with(&self.real_root))
    }

    /// Tells whether a change of the repository can change this file: the file is inside it, or is
    /// named by a relative path.
    pub(crate) fn controls(
        &self,
        named: &str,
        path: &Path,
        real: Option<&Path>,
        env: &Env,
    ) -> bool {
        let is_of_person = named.starts_with('~') && env.home.is_some();
        let is_relative = !is_of_person && !Path::new(named).has_root();
        is_relative || self.contains(path, real)
    }
}

/// Returns a path without `.` and `..`, without a look at the file system.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        store::write(&path, "one").unwrap();
        let files = NamedFiles::default();
        let first = files.read(&path, Level::Project, folder.path());
        store::write(&path, "two").unwrap();
        let second = files.read(&path, Level::Project, folder.path());
        assert_eq!(second.text.as_deref(), Some("one"));
        assert_eq!(first.real, second.real);
    }

    #[test]
    fn project_files_are_limited_in_size_each_and_in_total() {
        let folder = tempfile::tempdir().unwrap();
        let files = NamedFiles::default();
        let read = |name: &str, size: u64, level| {
            let path = folder.path().join(name);
            store::write(&path, &"x".repeat(usize::try_from(size).unwrap())).unwrap();
            files.read(&path, level, folder.path()).text.is_some()
        };
        assert!(!read("large", MAX_PROJECT_FILE_BYTES + 1, Level::Project));
        assert!(read("own", MAX_PROJECT_FILE_BYTES + 1, Level::User));
        let readable = (0..20)
            .filter(|at| read(&format!("file {at}"), MAX_PROJECT_FILE_BYTES, Level::Project));
        assert_eq!(readable.count(), 16);
    }

    #[test]
    fn paths_are_normalized_without_the_file_system() {
        for (path, expected) in [("/a/./b/../c", "/a/c"), ("/../x", "/x"), ("a/b", "a/b")] {
            assert_eq!(normalize(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
