//! Tests of connections over pipes, against scripted servers.

mod callback_panics;
mod close;
mod connect;
mod scripted_pipe;
mod session_ends;
