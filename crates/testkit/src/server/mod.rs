//! Conforming servers for tests, and what the server programs of this package share.
//!
//! `sample` is a service on our own server core that has some of every feature of MCP: `results`
//! are its lists, resources and prompts, `tools` execute its calls, `event_counts` counts what
//! happened. `rmcp` is a small service on another implementation. `traffic_recorder` records a
//! session, `serve_transport` parses the arguments, and `socket_server` serves on a Unix socket.

mod event_counts;
mod results;
mod rmcp;
mod sample;
mod serve_transport;
mod socket_server;
mod tools;
mod traffic_recorder;

pub use rmcp::RmcpService;
pub use sample::SampleService;
pub use serve_transport::{InvalidArguments, ServeTransport, input_ended};
pub use socket_server::SocketServer;
pub use traffic_recorder::{RecordedStream, TrafficRecorder};
