//! Reads documents once each while the programs are gone through, and keeps what is wrong.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{self, Node, Notation, Parsed};
use crate::env::Env;
use crate::problem::Problem;
use crate::store;

use super::budget::ReadBudget;

/// Documents by path; none where there is nothing that can be read.
pub(crate) type Documents = HashMap<PathBuf, Option<Arc<Node>>>;

/// One look at a machine.
pub(crate) struct Scan<'a> {
    pub(crate) env: &'a Env,
    /// The folders that count as the project, nearest first.
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

    /// Reads a file; what is wrong with it is noted the first time.
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

    /// Returns what counts how much of a project has been read.
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

    /// Keeps a document that was read elsewhere.
    pub(crate) fn remember(&mut self, path: &Path, parsed: Parsed) {
        let root = self.accept(path, parsed);
        self.documents.insert(path.to_owned(), Some(root));
    }

    /// Lets go of a document that nobody will ask for again; memory that is used anew is cheaper
    /// than more of it.
    pub(super) fn forget(&mut self, path: &Path) {
        self.documents.remove(path);
    }

    /// Returns what is wrong, and what is still kept of what was read.
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
                    Notation::Yaml => "YAML",
                };
                let message = format!("not valid {what}: {error} (column {})", error.column);
                let hint = "correct the line; until then nothing of this file is used";
                self.problems.push(
                    Problem::error("syntax", message).in_file(path).on_line(error.line).hint(hint),
                );
                None
            }
        }
    }

    fn accept(&mut self, path: &Path, parsed: Parsed) -> Arc<Node> {
        for duplicate in parsed.duplicate_keys {
            let message = format!(
                "\"{}\" stands twice in one object (first on line {}); the last one counts",
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

/// Tells the notation of a file by its name.
pub(crate) fn notation_of(path: &Path) -> Notation {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Notation::Toml,
        Some("yaml" | "yml") => Notation::Yaml,
        _ => Notation::Json,
    }
}
