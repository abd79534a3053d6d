//! The tools of all servers: filters, schemas, names, pins, and the registry that has them all.
//!
//! ```text
//! a server's list ─ server_tools (filter, schema) ─┐
//! stored names ─────────────── name_table ─────────┴─► registry ─► Tool
//! ```
//!
//! Nothing here is async or uses the disk; the files of cache, names and pins are in `store`.

pub(crate) mod alias;
mod filter;
pub(crate) mod name_owners;
pub(crate) mod name_table;
pub(crate) mod naming;
pub(crate) mod omitted_tools;
pub(crate) mod pattern;
pub(crate) mod pins;
mod registry;
pub(crate) mod schema;
mod search;
pub(crate) mod server_tools;
mod tool;

pub use alias::strip_server_name;
pub use naming::Naming;
pub use pins::{ChangeKind, PinError, PinReport, Pinning, ToolChange, ToolDifference};
pub use registry::{Registry, ToolMatch};
pub use schema::Sanitize;
pub use server_tools::OMITTED_TOOLS;
pub use tool::{Freshness, Tool, Visibility};
