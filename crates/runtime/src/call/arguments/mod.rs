//! Whether arguments fit a tool, and how words of a command line become arguments.
//!
//! `check` holds a tool's compiled schema, `cost` keeps a hostile schema from costing more than it is
//! worth, `words` says what is wrong, `pairs` reads `key=value`. A schema that cannot be used means
//! that nothing is checked, never that a tool is lost: its server checks once more.

pub(crate) mod check;
mod cost;
mod pairs;
mod words;

pub use pairs::{PairError, from_pairs};
pub use words::Misuse;
