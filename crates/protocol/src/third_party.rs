//! The crates whose types are in public signatures, so that a program gets the same versions.

#[cfg(feature = "serve-http")]
pub use axum;
pub use bytes;
pub use bytestring;
pub use futures_util;
pub use http;
#[cfg(feature = "http")]
pub use hyper;
pub use serde;
pub use serde_json;
pub use tokio;
pub use tokio_util;
#[cfg(feature = "http")]
pub use url;
