//! Parses JSON with comments, TOML and YAML into one kind of value with line numbers.
//!
//! All three become a [`Node`], so a program's reader does not depend on the notation. Nesting and
//! the number of values that YAML aliases expand to are limited; `store` limits the size of files.

mod json;
mod line_index;
mod node;
#[cfg(test)]
mod outline;
#[cfg(test)]
#[cfg(feature = "discovery")]
mod properties;
mod toml;
mod unique_keys;
#[cfg(feature = "discovery")]
mod yaml;

pub use node::{Key, Map, Node, Value};

/// How deep values may be nested.
pub const MAX_DEPTH: usize = 128;

/// How many values the aliases of one YAML file may expand to.
#[cfg(feature = "discovery")]
pub const MAX_YAML_NODES: usize = 1_000_000;

/// The notation a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON, with comments and trailing commas allowed.
    Json,
    /// TOML.
    Toml,
    /// YAML; only with the feature `discovery`.
    #[cfg(feature = "discovery")]
    Yaml,
}

/// A parsed text and its duplicate keys.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedDocument {
    /// The value of the whole text; null for an empty one.
    pub root: Node,
    /// Keys that appear twice in one object; the last one is used.
    pub duplicate_keys: Vec<DuplicateKey>,
}

/// A key that appears twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// The line of the later one, which is used.
    pub line: u32,
    /// The line of the earlier one, which is ignored.
    pub first_line: u32,
}

/// Why a text could not be parsed. It never quotes the text, which may contain secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// What is wrong, in lower case and without a period.
    pub message: String,
}

/// Parses a text. A byte-order mark, CRLF line ends, comments and trailing commas are accepted.
///
/// ```
/// use wharf_config::document::{Notation, parse};
///
/// let parsed = parse("{\n  // ours\n  \"a\": [1, 2,],\n}", Notation::Json)?;
/// assert_eq!(parsed.root.get("a").map(|list| list.line), Some(3));
/// # Ok::<(), wharf_config::document::SyntaxError>(())
/// ```
pub fn parse(text: &str, notation: Notation) -> Result<ParsedDocument, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match notation {
        Notation::Json => json::parse(text),
        Notation::Toml => toml::parse(text),
        #[cfg(feature = "discovery")]
        Notation::Yaml => yaml::parse(text),
    }
}
