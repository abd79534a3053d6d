//! JSON with comments and trailing commas; no other extension is accepted.
//!
//! A more lenient parser would hide errors that make the program that owns the file reject it.

mod error_message;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
