//! Checks messages against the schema of their revision.
//!
//! A message is judged by its method: a request or notification by the definition of that name, a
//! result by the definition that belongs to the request. The schemas allow unknown members almost
//! everywhere; [`Schema::surplus`] finds those, too, because Wharf does not send any.

mod definitions;
mod surplus;
mod traffic;

pub use definitions::{Schema, Sender, Violation};
pub use traffic::Traffic;
