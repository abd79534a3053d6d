//! What a catalog says about whole machines: files of several programs in, servers and problems
//! out.
//!
//! Everything goes through [`wharf_config::load`]; `world` makes the machine and shows the result.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files of its own, and stops where that fails"
)]

mod bad_input;
mod limits;
mod manage;
mod merge;
mod trust;
mod world;
