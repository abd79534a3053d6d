//! What the spans of this crate are for OpenTelemetry (feature `otel`).
//!
//! ```text
//! layer        hands our spans to a tracer, and leaves out what is too much
//! context      which trace something belongs to: told to servers, and kept for connections
//! attributes   what the conventions for MCP and for generative AI want to know
//! collector    how an exporter reaches its collector
//! ```
//!
//! Any tracing layer that hands spans to OpenTelemetry will do; [`layer`] makes one. With a layer
//! in place, every request of a caller carries the span it belongs to in `_meta` as W3C Trace
//! Context, so a server's own spans join the trace. Without one, or without a span that is
//! recorded, nothing is added.

pub(crate) mod attributes;
mod collector;
pub(crate) mod context;
mod layer;

pub use collector::CollectorClient;
pub use layer::layer;
