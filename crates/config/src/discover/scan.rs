//! Reads and parses each document once, caches it for all programs, and collects the problems.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{self, Node, Notation, ParsedDocument};
use crate::env::Env;
use crate::problem::Problem;
use crate::store;

use super::budget::ReadBudget;

/// Parsed documents by path; `None` for a file that is missing or cannot be read.
pub(crate) type Documents = HashMap<PathBuf, Option<Arc<Node>>>;

/// One pass over the files of a machine.
pub(crate) struct Scan<'a> {
    pub(crate) env: &'a Env,
    /// The folders of the project, nearest first.
    pub(crate) folders: Vec<Arc<PathBuf>>,
    pub(crate) working_folder: Arc<PathBuf>,
    pub(crate) problems: Vec<Problem>,
    documents: Documents,
    budget: ReadBudget,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(env: &'a Env, folders: Vec<Arc<PathBuf>>) -> Self {
        Self {
            env,
            folders,
            working_folder: Arc::new(env.cwd.clone()),
            problems: Vec::new(),
            documents: HashMap::new(),
            budget: ReadBudget::default(),
        }
    }

    /// Reads a file. Its problems are recorded only the first time.
    pub(crate) fn document(&mut self, path: &Path) -> Option<Arc<Node>> {
        if let Some(known) = self.documents.get(path) {
            return known.clone();
        }
        let root = match self.read(path) {
            Ok(Some(text)) => self.parse(path, &text),
            Ok(None) => None,
            Err(problem) => {
                self.problems.push(*problem);
                None
            }
        };
        self.documents.insert(path.to_owned(), root.clone());
        root
    }

    /// Returns the budget for project files.
    pub(super) fn budget(&self) -> ReadBudget {
        self.budget.clone()
    }

    fn read(&mut self, path: &Path) -> Result<Option<String>, Box<Problem>> {
        if self.folders.iter().any(|folder| path.starts_with(folder.as_path())) {
            self.budget.take(path)?;
        }
        store::read(path).map_err(|error| Box::new(error.as_problem()))
    }

    /// Reads a variable that holds JSON.
    pub(crate) fn variable(&mut self, name: &Path) -> Option<Arc<Node>> {
        if let Some(known) = self.documents.get(name) {
            return known.clone();
        }
        let text = self.env.nonempty_variable(name.to_str()?)?;
        let root = self.parse(name, text);
        self.documents.insert(name.to_owned(), root.clone());
        root
    }

    /// Adds a document that was read elsewhere.
    pub(crate) fn remember(&mut self, path: &Path, parsed: ParsedDocument) {
        let root = self.accept(path, parsed);
        self.documents.insert(path.to_owned(), Some(root));
    }

    /// Drops a document that is not needed again: reusing memory is cheaper than allocating more.
    pub(super) fn forget(&mut self, path: &Path) {
        self.documents.remove(path);
    }

    /// Returns the problems and the documents that were not dropped.
    pub(crate) fn finish(self) -> (Vec<Problem>, Documents) {
        (self.problems, self.documents)
    }

    fn parse(&mut self, path: &Path, text: &str) -> Option<Arc<Node>> {
        let notation = notation_of(path);
        match document::parse(text, notation) {
            Ok(parsed) => Some(self.accept(path, parsed)),
            Err(error) => {
                let what = match notation {
                    Notation::Json => "JSON",
                    Notation::Toml => "TOML",
                    #[cfg(feature = "discovery")]
                    Notation::Yaml => "YAML",
                };
                let message = format!("not valid {what}: {error} (column {})", error.column);
                let hint = "correct the line; until then the file is ignored";
                self.problems.push(
                    Problem::error("syntax", message).in_file(path).on_line(error.line).hint(hint),
                );
                None
            }
        }
    }

    fn accept(&mut self, path: &Path, parsed: ParsedDocument) -> Arc<Node> {
        for duplicate in parsed.duplicate_keys {
            let message = format!(
                "\"{}\" appears twice in one object (first on line {}); the last one is used",
                crate::text::clip(&duplicate.key, 100),
                duplicate.first_line
            );
            self.problems.push(
                Problem::warning("duplicate-key", message)
                    .in_file(path)
                    .on_line(duplicate.line)
                    .hint("remove one of them"),
            );
        }
        Arc::new(parsed.root)
    }
}

/// Returns the notation of a file, by its extension.
pub(crate) fn notation_of(path: &Path) -> Notation {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Notation::Toml,
        #[cfg(feature = "discovery")]
        Some("yaml" | "yml") => Notation::Yaml,
        _ => Notation::Json,
    }
}
