//! The tools of all servers under one roof: names, schemas, filters, and what is remembered of them.
//!
//! ```text
//! a server's list ─ offer (filter, schema) ─┐
//! stored names ───────────── names ─────────┴─► registry ─► Tool
//! ```
//!
//! All of it is plain code: nothing here waits, and what is kept on disk only spares work (`cache`,
//! `names`), warns (`pins`) or is told (`attempts`).

pub(crate) mod alias;
mod filter;
pub(crate) mod left_out;
pub(crate) mod names;
pub(crate) mod naming;
pub(crate) mod offer;
pub(crate) mod pins;
mod registry;
mod schema;
mod search;
mod tool;

pub use alias::tool_of;
pub use naming::Naming;
pub use offer::TOOLS_SET_ASIDE;
pub use pins::{ChangeKind, Difference, PinError, PinReport, Pinning, ToolChange};
pub use registry::{Found, Registry};
pub use schema::Sanitize;
pub use tool::{Freshness, Tool, Visibility};
