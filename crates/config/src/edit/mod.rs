//! Changes people's config files as they would themselves: only what is asked for, nothing else.
//!
//! Every change is a cut into the text at a place that the parser found. Nothing is printed back
//! from a tree, so comments, order, spacing and line ends stay as they are by construction.
//! [`redact`] and [`diff`] show a text without its secrets. Reading and writing files is in
//! [`crate::store`].

mod change;
mod diff;
mod json;
mod json_write;
mod redact;
mod sequence;
mod source_text;
#[cfg(test)]
mod tests;
mod toml;
mod toml_add;
mod toml_inline;
mod toml_layout;
mod toml_write;
mod tree;

pub use change::{Change, EditError, apply};
pub use diff::diff;
pub use redact::{CONTENT_NOT_SHOWN, redact};
