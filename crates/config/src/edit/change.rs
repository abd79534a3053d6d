//! What can be changed in a file, why a change may be refused, and the one function that does it.

use serde_json::Value;

use super::{json, toml};
use crate::document::{self, Notation, SyntaxError};

/// One change to a file; `path` are keys from the root.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Puts a value under a key. What is there is replaced in place, comments around it are kept;
    /// else it comes last. Missing parents are created; a parent that is null counts as missing.
    /// A value that is already there stays as it is written.
    Set {
        /// The keys that lead to the value.
        path: Vec<String>,
        /// The value. In TOML, where nothing can be null, nulls are left out.
        value: Value,
    },
    /// Takes a key away, if it is there, with its own line and the comment on that line.
    Remove {
        /// The keys that lead to it.
        path: Vec<String>,
    },
    /// Puts a text at the end of a list, unless it is in it; the list is created if missing.
    Include {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// The text.
        item: String,
    },
    /// Takes a text out of a list, wherever it is in it.
    Exclude {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// The text.
        item: String,
    },
}

impl Change {
    fn path(&self) -> &[String] {
        match self {
            Self::Set { path, .. }
            | Self::Remove { path }
            | Self::Include { path, .. }
            | Self::Exclude { path, .. } => path,
        }
    }
}

/// Why a text was not changed. It never quotes a value of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is broken, and a guess might lose what its author meant.
    #[error("the file cannot be read as it is (line {})", .0.line)]
    Syntax(#[source] SyntaxError),
    /// A value stands where the path needs an object.
    #[error("{} is {found}, not an object{}", named(.path), on_line(*.line))]
    NotAnObject {
        /// The keys that lead to it, joined by dots; empty for the whole file.
        path: String,
        /// What it is.
        found: &'static str,
        /// The line it begins on.
        line: Option<u32>,
    },
    /// A value stands where a list is needed.
    #[error("{} is {found}, not a list{}", named(.path), on_line(*.line))]
    NotAList {
        /// The keys that lead to it, joined by dots.
        path: String,
        /// What it is.
        found: &'static str,
        /// The line it begins on.
        line: Option<u32>,
    },
    /// The file could not be read any more, because of too deep nesting.
    #[error("with {} changed, the file could not be read any more", named(.path))]
    WouldBreak {
        /// The keys that lead to the change, joined by dots.
        path: String,
        /// What would be wrong with it.
        #[source]
        error: SyntaxError,
    },
    /// The path is empty, so there is no key to change.
    #[error("a change needs at least one key")]
    NoKey,
    /// Files in this notation are only read.
    #[error("{} files are only read, not changed", match .0 {
        Notation::Json => "JSON",
        Notation::Toml => "TOML",
        Notation::Yaml => "YAML",
    })]
    Unsupported(Notation),
}

impl EditError {
    /// Says what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Syntax(error) => format!(
                "put line {}, column {} right first; the file was left as it is",
                error.line, error.column
            ),
            Self::NotAnObject { path, .. } if path.is_empty() => {
                "the file must hold one object with keys".to_owned()
            }
            Self::NotAnObject { path, .. } => format!("make `{path}` an object, or remove it"),
            Self::NotAList { path, .. } => format!("make `{path}` a list, or remove it"),
            Self::WouldBreak { .. } => "put it higher up; the file was left as it is".to_owned(),
            Self::NoKey => "name the key to change".to_owned(),
            Self::Unsupported(_) => "change the file by hand".to_owned(),
        }
    }
}

/// Returns the text with the changes made and nothing else changed.
///
/// A byte-order mark, line ends, indentation, comments, trailing commas and the order of keys stay.
/// Where a key stands twice in an object, the last one counts and is changed, and all are removed.
/// Making the same changes again changes nothing.
///
/// ```
/// use wharf_config::document::Notation;
/// use wharf_config::edit::{Change, apply};
///
/// let text = "{\n  // ours\n  \"off\": [\"a\"]\n}\n";
/// let change = Change::Include { path: vec!["off".into()], item: "b".into() };
/// let edited = apply(text, Notation::Json, &[change])?;
/// assert_eq!(edited, "{\n  // ours\n  \"off\": [\"a\", \"b\"]\n}\n");
/// # Ok::<(), wharf_config::edit::EditError>(())
/// ```
pub fn apply(text: &str, notation: Notation, changes: &[Change]) -> Result<String, EditError> {
    if notation == Notation::Yaml {
        return Err(EditError::Unsupported(notation));
    }
    if changes.iter().any(|change| change.path().is_empty()) {
        return Err(EditError::NoKey);
    }
    document::parse(text, notation).map_err(EditError::Syntax)?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = &text[..text.len() - body.len()];
    let edited = changes.iter().try_fold(body.to_owned(), |text, change| {
        let edited = match notation {
            Notation::Json => json::change(&text, change),
            Notation::Toml => toml::change(&text, change),
            Notation::Yaml => Err(EditError::Unsupported(notation)),
        }?;
        match document::parse(&edited, notation) {
            Ok(_) => Ok(edited),
            Err(error) => Err(EditError::WouldBreak { path: change.path().join("."), error }),
        }
    })?;
    Ok(format!("{mark}{edited}"))
}

fn named(path: &str) -> String {
    if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") }
}

fn on_line(line: Option<u32>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}
