//! Tests of connections over pipes, against scripted servers.

mod close;
mod connect;
mod scripted_pipe;
mod session_ends;
