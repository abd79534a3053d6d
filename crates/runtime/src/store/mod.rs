//! What is kept on disk about servers from one run to the next.
//!
//! `tool_cache` and `attempts` spare work or are told to the person, `pins` notices changed tools.
//! `files` writes private files as a whole, `keys` names records without giving secrets away, `pack`
//! and `written` are the format.

pub(crate) mod attempts;
pub(crate) mod files;
mod keys;
mod pack;
pub(crate) mod pins;
pub(crate) mod tool_cache;
mod written;
