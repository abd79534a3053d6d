//! JSON with comments and trailing commas; nothing else is forgiven.
//!
//! What a lenient reader here would accept, the program that owns the file may refuse; a person
//! would then look for the fault in the wrong place.

mod error_message;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
