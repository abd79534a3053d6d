//! The two eras of MCP: sessions that begin with `initialize`, and requests that stand alone.

mod headers;
mod negotiate;
mod revision;

pub use headers::{BadMark, HeaderParameter, header_text, header_value};
pub(crate) use negotiate::{Negotiation, Prior, Probe, Sign, Step};
pub use revision::{Era, Revision, UnknownRevision};
