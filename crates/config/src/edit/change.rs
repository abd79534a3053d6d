//! The changes to a file, the errors of a change, and [`apply`], which makes the changes.

use super::json_value::JsonValue;
use super::{json, toml};
use crate::document::{self, Notation, SyntaxError};

/// One change to a file; `path` are keys from the root.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Sets a value under a key. An existing value is replaced in place, and comments around it are
    /// kept; a new key is added at the end. Missing parents are created; a null parent counts as
    /// missing. An equal value is not rewritten.
    Set {
        /// The keys that lead to the value.
        path: Vec<String>,
        /// The value. TOML has no null, so nulls are omitted there.
        value: JsonValue,
    },
    /// Removes a key, if it exists, with its line and the comment on that line.
    Remove {
        /// The keys that lead to it.
        path: Vec<String>,
    },
    /// Adds a string at the end of a list, unless it is in the list; a missing list is created.
    Include {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// The string.
        item: String,
    },
    /// Removes all occurrences of a string from a list.
    Exclude {
        /// The keys that lead to the list.
        path: Vec<String>,
        /// The string.
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
    /// The text has a syntax error, and a guess could lose content.
    #[error("the file has a syntax error (line {})", .0.line)]
    Syntax(#[source] SyntaxError),
    /// The path leads through a value that is not an object.
    #[error("{} is {found}, not an object{}", named(.path), on_line(*.line))]
    NotAnObject {
        /// The keys that lead to it, joined by dots; empty for the whole file.
        path: String,
        /// The kind of value that was found.
        found: &'static str,
        /// The line it begins on.
        line: Option<u32>,
    },
    /// The value at the path is not a list.
    #[error("{} is {found}, not a list{}", named(.path), on_line(*.line))]
    NotAList {
        /// The keys that lead to it, joined by dots.
        path: String,
        /// The kind of value that was found.
        found: &'static str,
        /// The line it begins on.
        line: Option<u32>,
    },
    /// The changed file could not be parsed, because it is nested too deep.
    #[error("changing {} would make the file unreadable", named(.path))]
    WouldBreak {
        /// The keys that lead to the change, joined by dots.
        path: String,
        /// The syntax error that the change would cause.
        #[source]
        error: SyntaxError,
    },
    /// The path is empty.
    #[error("a change needs at least one key")]
    NoKey,
    /// Files in this notation cannot be changed.
    #[error("{} files can be read, but not changed", match .0 {
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
                "correct line {}, column {} first; the file was not changed",
                error.line, error.column
            ),
            Self::NotAnObject { path, .. } if path.is_empty() => {
                "the file must hold one object with keys".to_owned()
            }
            Self::NotAnObject { path, .. } => format!("make `{path}` an object, or remove it"),
            Self::NotAList { path, .. } => format!("make `{path}` a list, or remove it"),
            Self::WouldBreak { .. } => "use less nesting; the file was not changed".to_owned(),
            Self::NoKey => "name the key to change".to_owned(),
            Self::Unsupported(_) => "change the file by hand".to_owned(),
        }
    }
}

/// Returns the text with the changes made and nothing else changed.
///
/// A byte-order mark, line ends, indentation, comments, trailing commas and the order of keys stay.
/// Of duplicate keys the last one is changed, and all are removed. Applying the same changes again
/// changes nothing.
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
