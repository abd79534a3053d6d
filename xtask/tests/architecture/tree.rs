//! The text files of the workspace, read from disk or given in memory.
//!
//! Build products and hidden folders that do not belong to the project are skipped. Git is not
//! used, so that the rules can also be checked in an unpacked archive.

use std::fs;
use std::path::Path;

use crate::code::{blank_comments_and_strings, blank_tests};

/// Hidden folders that belong to the project.
const HIDDEN: [&str; 4] = [".cargo", ".ci", ".config", ".github"];

/// Folders with test code or samples rather than the product.
const TEST_FOLDERS: [&str; 4] = ["tests", "benches", "fuzz", "snapshots"];

pub(crate) struct Tree {
    pub(crate) files: Vec<SourceFile>,
}

pub(crate) struct SourceFile {
    /// The path from the workspace root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Tree {
    /// Reads the workspace that this test belongs to.
    #[track_caller]
    pub(crate) fn read_workspace() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = Self { files: Vec::new() };
        tree.read_folder(&root, "");
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(
            tree.files.iter().any(|file| file.path == "crates/config/src/lib.rs"),
            "the workspace was not found"
        );
        tree
    }

    pub(crate) fn in_memory(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| SourceFile { path: (*path).into(), text: (*text).into() };
        Self { files: files.iter().map(file).collect() }
    }

    /// Returns the Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Returns the Rust files below any `src` folder.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &SourceFile> {
        self.rust().filter(|file| file.path.starts_with("src/") || file.path.contains("/src/"))
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            // Symbolic links are skipped: they could lead out of the tree or form a loop.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let is_other_hidden_folder =
                    name.starts_with('.') && !HIDDEN.contains(&name.as_str());
                if name != "target" && !is_other_hidden_folder {
                    self.read_folder(&entry.path(), &format!("{path}/"));
                }
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(entry.path())
            {
                self.files.push(SourceFile { path, text });
            }
        }
    }
}

impl SourceFile {
    fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// Returns whether the whole file is test code or a sample.
    pub(crate) fn is_for_tests(&self) -> bool {
        let mut parts = self.path.split('/').rev();
        parts.next() == Some("tests.rs") || parts.any(|folder| TEST_FOLDERS.contains(&folder))
    }

    /// Returns the code with comments and literals blanked.
    pub(crate) fn code(&self) -> String {
        blank_comments_and_strings(&self.text)
    }

    /// Returns `code` without the items that are compiled for tests only.
    pub(crate) fn product_code(&self) -> String {
        if self.is_for_tests() { String::new() } else { blank_tests(&self.code(), &self.code()) }
    }

    /// Returns the whole text without the items that are compiled for tests only.
    pub(crate) fn product_text(&self) -> String {
        if self.is_for_tests() {
            String::new()
        } else if self.is_rust() {
            blank_tests(&self.code(), &self.text)
        } else {
            self.text.clone()
        }
    }
}

#[test]
fn test_files_are_known_by_their_name_or_folder() {
    let check = |path: &str| SourceFile { path: path.into(), text: String::new() }.is_for_tests();
    assert!(check("crates/config/src/edit/tests.rs"));
    assert!(check("crates/config/tests/golden/a.json"));
    assert!(!check("crates/config/src/edit/mod.rs"));
    assert!(!check("tests"));
}
