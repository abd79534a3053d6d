//! Config edits in place: comments, order, formatting and line ends are kept.
//!
//! A change replaces only the text range that the parser found. Files are not serialized again from
//! a tree, so all other text stays the same by construction. [`redact`] and [`diff`] redact the
//! secrets of a text. Reading and writing files is in [`crate::store`].

mod change;
mod diff;
mod json;
mod json_value;
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
pub use json_value::{JsonObject, JsonValue};
pub use redact::{CONTENT_NOT_SHOWN, redact};
