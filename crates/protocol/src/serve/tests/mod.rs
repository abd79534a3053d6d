//! The whole server against clients that only know the wire.

mod http_client;
mod http_legacy;
mod http_limits;
mod http_modern;
mod http_streams;
mod sample;
mod stdio_legacy;
mod stdio_modern;
