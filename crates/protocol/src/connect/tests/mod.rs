//! Tests of connections over pipes, against scripted servers.

mod callback_panics;
mod close;
mod connect;
#[cfg(feature = "http")]
mod debug_output;
mod scripted_pipe;
mod session_ends;
