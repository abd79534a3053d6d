//! Whether arguments fit a tool, and how words of a command line become arguments.
//!
//! `check` holds a tool's schema, `fast_check` says at once that usual arguments fit, `schema_cost`
//! keeps a hostile schema from costing more than it is worth, `misuse` says what is wrong, `pairs`
//! reads `key=value`, `signature` lists the arguments and `example` makes some up, both with
//! `argument_schemas`. A schema that cannot be used means that nothing is checked, never that a
//! tool is lost: its server checks once more.

mod argument_schemas;
pub(crate) mod check;
pub(crate) mod example;
mod fast_check;
mod misuse;
mod pairs;
mod schema_cost;
mod signature;

pub use misuse::Misuse;
pub use pairs::{PairError, from_pairs};
pub use signature::{Argument, Signature};
