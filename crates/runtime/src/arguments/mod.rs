//! Arguments of tools: checked against the schema of the tool, and read from `key=value` words.
//!
//! `check` validates arguments: `fast_check` accepts common cases without compiling the schema,
//! `schema_cost` limits the work for a hostile schema, and `argument_errors` describes what is
//! wrong. Without the feature `schema-validation`, `no_check` is in the place of `check`.
//!
//! `call_arguments` makes arguments from any value, and `pairs` reads `key=value`. `signature` lists
//! the arguments of a tool and `example` generates some, both with `argument_schemas`.
//! `local_reference` reads `$ref`. With an unusable schema, nothing is checked and the tool stays usable: its server checks the arguments,
//! too.

#[cfg(feature = "schema-validation")]
mod argument_errors;
mod argument_schemas;
mod call_arguments;
#[cfg_attr(not(feature = "schema-validation"), path = "no_check.rs")]
pub(crate) mod check;
pub(crate) mod example;
#[cfg(feature = "schema-validation")]
mod fast_check;
mod invalid_arguments;
pub(crate) mod local_reference;
mod pairs;
#[cfg(feature = "schema-validation")]
mod schema_cost;
mod signature;

pub use call_arguments::Arguments;
pub use invalid_arguments::InvalidArguments;
pub use pairs::{PairError, from_pairs};
pub use signature::{Argument, Signature};
