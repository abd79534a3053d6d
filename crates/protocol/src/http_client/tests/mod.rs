//! Tests of the HTTP client against scripted servers on this machine.

mod errors;
mod limits;
mod proxies;
mod redirects;
mod reuse;
mod scripted_server;
mod targets;
mod tls;
