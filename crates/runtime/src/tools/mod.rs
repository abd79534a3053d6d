//! The tools of all servers under one roof: names, schemas, filters, and what is remembered of them.
//!
//! ```text
//! a server's list ─ offer (filter, schema) ─┐
//! stored names ───────────── names ─────────┴─► registry ─► Tool
//! ```
//!
//! All of it is plain code: nothing here waits, and what is kept on disk only spares work (`cache`,
//! `names`) or warns (`pins`).

mod disk;
pub(crate) mod names;
mod naming;

pub(crate) use names::Names;
pub use naming::Naming;
