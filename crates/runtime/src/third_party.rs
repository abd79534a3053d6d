//! The crates whose types are in public signatures of this crate and of [`crate::protocol`], so that
//! a program gets the same versions.

pub use futures_core;
pub use wharf_protocol::third_party::*;
#[cfg(feature = "otel")]
pub use {opentelemetry, tracing, tracing_subscriber};
