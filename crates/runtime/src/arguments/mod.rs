//! Whether arguments fit a tool, and how words of a command line become arguments.
//!
//! `check` holds a tool's schema, `plain` says at once that usual arguments fit, `cost` keeps a hostile
//! schema from costing more than it is worth, `words` says what is wrong, `pairs` reads `key=value`,
//! `signature` lists the arguments and `example` makes some up, both with `declared`. A schema that
//! cannot be used means that nothing is checked, never that a tool is lost: its server checks once more.

pub(crate) mod check;
mod cost;
mod declared;
pub(crate) mod example;
mod pairs;
mod plain;
mod signature;
mod words;

pub use pairs::{PairError, from_pairs};
pub use signature::{Argument, Signature};
pub use words::Misuse;
