//! With the feature `otel`: runs the real binary beside a collector, and looks at what arrives.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may")]

mod export_settings;
mod spans;

#[path = "../../examples/collector/collector.rs"]
mod collector;
#[path = "../../examples/collector/protobuf.rs"]
mod protobuf;
#[expect(dead_code, reason = "the tests of the verbs use more of it")]
#[path = "../verbs/server_script.rs"]
mod server_script;
#[expect(dead_code, reason = "the tests of the verbs use more of it")]
#[path = "../verbs/world.rs"]
mod world;
