//! YAML of the core schema, with aliases and merge keys.
//!
//! While events are read, an alias only points at its value, so a text that would unfold to
//! gigabytes is refused before anything is copied.

mod complaint;
mod read;
mod scalar;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use read::parse;
