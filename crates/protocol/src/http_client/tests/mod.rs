//! The client against servers on this machine that do exactly what a test tells them.

mod errors;
mod limits;
mod proxies;
mod redirects;
mod reuse;
mod scripted_server;
mod targets;
mod tls;
