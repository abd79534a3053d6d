//! The two eras of MCP: sessions that begin with `initialize`, and self-contained requests.

mod headers;
mod negotiate;
mod revision;

pub(crate) use headers::{HeaderParameter, header_text, header_value, naming_parameter};
pub(crate) use negotiate::{KnownRevision, Negotiation, NegotiationStep, Probe, ProbeEvent};
pub use revision::{Era, Revision, UnknownRevision};
