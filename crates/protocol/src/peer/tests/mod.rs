//! Tests of the peer against scripted servers.

mod call_outcomes;
mod scripted_server;
mod server_requests;
mod sessions;
