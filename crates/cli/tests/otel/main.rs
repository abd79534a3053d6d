//! Tests of the feature `otel`: run the real binary with an OTLP collector and check the export.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

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
