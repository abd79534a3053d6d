//! The two eras of MCP, and the revisions of each.
//!
//! - Legacy, up to 2025-11-25: a session begins with `initialize`.
//! - Modern, since 2026-07-28: every request is self-contained.

mod headers;
mod negotiate;
mod revision;

pub(crate) use headers::HeaderParameter;
#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) use headers::header_text;
#[cfg(any(feature = "http", test, fuzzing))]
pub(crate) use headers::header_value;
#[cfg(any(feature = "http", feature = "serve-http"))]
pub(crate) use headers::naming_parameter;
pub(crate) use negotiate::{KnownRevision, Negotiation, NegotiationStep, Probe, ProbeEvent};
pub use revision::{Era, Revision, UnknownRevision};
