//! YAML with the core schema, aliases and merge keys.
//!
//! During parsing an alias only refers to its value, so an alias bomb is rejected before any copy.

mod error_message;
mod read;
mod scalar;
mod shared_value;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
