//! The client's side against servers that follow a script.

mod call_outcomes;
mod scripted_server;
mod server_requests;
mod sessions;
