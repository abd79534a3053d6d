//! Tests of the peer against scripted servers.

#[cfg(feature = "http")]
mod call_outcomes;
#[cfg(feature = "http")]
mod scripted_server;
mod server_requests;
#[cfg(feature = "http")]
mod sessions;
