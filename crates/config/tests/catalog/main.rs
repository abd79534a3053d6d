//! Tests of the catalog on whole machines: files of several programs in, servers and problems out.
//!
//! All tests use [`wharf_config::load`]; `world` makes a temporary machine and renders the catalog.

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
mod trust_in_place;
mod trust_of_shares;
mod world;
