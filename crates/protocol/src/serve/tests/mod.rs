//! The whole server, tested with minimal clients on stdio and HTTP, and our own in the process.

mod http_client;
mod http_legacy;
mod http_limits;
mod http_modern;
mod http_streams;
mod in_process;
mod sample;
mod stdio_legacy;
mod stdio_modern;
