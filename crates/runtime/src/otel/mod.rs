//! Exports the spans of this crate to OpenTelemetry (feature `otel`).
//!
//! ```text
//! layer        passes spans to a tracer, filtered by level
//! context      trace context: sent to servers in `_meta`, and kept as the parent of connections
//! attributes   the attributes of the semantic conventions for MCP and for generative AI
//! collector    the HTTP client of an exporter
//! ```
//!
//! Any tracing layer that passes spans to OpenTelemetry works; [`layer`] creates one. With such a
//! layer, every request of a caller has the W3C Trace Context of its span in `_meta`, so that the
//! spans of the server join the trace. Without a layer or a recorded span, nothing is added.

pub(crate) mod attributes;
mod collector;
pub(crate) mod context;
mod layer;

pub use collector::CollectorClient;
pub use layer::layer;
