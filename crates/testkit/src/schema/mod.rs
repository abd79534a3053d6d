//! Checks messages against the schema of their revision.
//!
//! The method selects the definition of a request or notification, and that of the result. The
//! schemas allow unknown members almost everywhere; [`Schema::unknown_members`] finds them, because
//! Wharf must not send any.

mod definitions;
mod traffic_checker;
mod unknown_members;

pub use definitions::{Schema, SchemaViolation, Sender};
pub use traffic_checker::TrafficChecker;
