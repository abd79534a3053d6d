//! YAML of the core schema, with aliases and merge keys.
//!
//! While events are read, an alias only points at its value, so a text that would unfold to
//! gigabytes is refused before anything is copied.

mod error_message;
mod read;
mod scalar;
mod shared_value;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
