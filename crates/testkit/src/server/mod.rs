//! Conforming servers for tests, and what the server programs of this package share.
//!
//! `sample` is a service on our own server core that has some of every feature of MCP: `results`
//! are its lists, resources and prompts, `tools` execute its calls, `event_counts` counts what
//! happened. `traffic_recorder` records a session, and `serve_transport` parses the arguments.

mod event_counts;
mod results;
mod sample;
mod serve_transport;
mod tools;
mod traffic_recorder;

pub use sample::SampleService;
pub use serve_transport::{InvalidArguments, ServeTransport, input_ended};
pub use traffic_recorder::{RecordedStream, TrafficRecorder};
