//! A config file as plain values that know their line, whatever it was written in.
//!
//! JSON with comments, TOML and YAML all become a [`Node`], so a program's reader is written once
//! for its shape and never for its notation. Everything here is bounded: size, nesting, and the
//! number of values that YAML aliases may unfold to.

mod json;
mod line_index;
mod node;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod properties;
mod toml;
mod unique_keys;
mod yaml;

pub use node::{Key, Map, Node, Value};

/// How deep values may be nested in each other.
pub const MAX_DEPTH: usize = 128;

/// How many values one YAML file may unfold to through its aliases.
pub const MAX_YAML_NODES: usize = 1_000_000;

/// The notation a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON, with comments and trailing commas allowed.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// A text that could be read, with what was odd about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value of the whole text; null for an empty one.
    pub root: Node,
    /// Keys that stand twice in one object; the last one counts.
    pub duplicate_keys: Vec<DuplicateKey>,
}

/// A key that stands twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// The line of the later one, which counts.
    pub line: u32,
    /// The line of the earlier one, which is ignored.
    pub first_line: u32,
}

/// Why a text could not be read. It never quotes the text, which may hold secrets.
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

/// Reads a text. A byte-order mark, CRLF line ends, comments and trailing commas are fine.
///
/// ```
/// use wharf_config::document::{Notation, parse};
///
/// let parsed = parse("{\n  // ours\n  \"a\": [1, 2,],\n}", Notation::Json)?;
/// assert_eq!(parsed.root.get("a").map(|list| list.line), Some(3));
/// # Ok::<(), wharf_config::document::SyntaxError>(())
/// ```
pub fn parse(text: &str, notation: Notation) -> Result<Parsed, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match notation {
        Notation::Json => json::parse(text),
        Notation::Toml => toml::parse(text),
        Notation::Yaml => yaml::parse(text),
    }
}
