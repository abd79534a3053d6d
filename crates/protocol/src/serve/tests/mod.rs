//! The whole server, tested with minimal clients on stdio and HTTP, and our own in the process.

#[cfg(all(feature = "http", feature = "serve-http"))]
mod http_client;
#[cfg(all(feature = "http", feature = "serve-http"))]
mod http_legacy;
#[cfg(all(feature = "http", feature = "serve-http"))]
mod http_limits;
#[cfg(all(feature = "http", feature = "serve-http"))]
mod http_modern;
#[cfg(all(feature = "http", feature = "serve-http"))]
mod http_streams;
mod in_process;
mod sample;
mod stdio_legacy;
mod stdio_modern;
