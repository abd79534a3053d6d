//! The variables that configure the span export, and collectors that are unreachable or refuse.

use std::process::Output;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::collector::{Collector, CollectorBehavior};
use crate::world::World;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Runs a command line and returns how long it took.
fn timed(world: &World, line: &str) -> (Output, Duration) {
    let began = Instant::now();
    (world.output(line), began.elapsed())
}

#[test]
fn nothing_is_exported_unless_the_variables_enable_it() {
    for (name, value) in [
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ] {
        let collector = Collector::start(0, CollectorBehavior::Answers);
        let world = World::new().variable(ENDPOINT, &collector.endpoint()).variable(name, value);
        assert!(world.output("list").status.success());
        assert_eq!(collector.requests().len(), 0, "{name}");
    }
    let plain = World::new().variable("OTEL_SERVICE_NAME", "mine");
    assert_eq!(plain.run("list --json"), World::new().run("list --json"));
}

#[test]
fn the_traces_endpoint_is_used_unchanged() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let world = World::new()
        .variable(ENDPOINT, "http://127.0.0.1:1")
        .variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &(collector.endpoint() + "/mine?key=1"));
    assert!(world.output("list").status.success());
    assert!(collector.requests()[0].head.starts_with("post /mine?key=1 http/1.1\r\n"));
}

#[test]
fn spans_are_sent_uncompressed_when_gzip_is_requested() {
    let collector = Collector::start(0, CollectorBehavior::Answers);
    let world = World::new()
        .variable(ENDPOINT, &collector.endpoint())
        .variable("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    assert!(world.output("list").status.success());
    assert_eq!(collector.spans().len(), 1);
}

#[test]
fn an_unreachable_or_refusing_collector_causes_one_warning() {
    let expected = World::new().output("list --json");
    let warnings = |endpoint: &str| {
        let world = World::new().variable(ENDPOINT, endpoint);
        let output = world.output("list --json");
        assert!(output.status.success());
        assert_eq!(output.stdout, expected.stdout);
        let quiet = world.output("list --json -q");
        assert_eq!(String::from_utf8(quiet.stderr).unwrap(), "");
        String::from_utf8(output.stderr).unwrap()
    };
    let away = warnings("http://me:s3cret@127.0.0.1:1/?key=s3cret");
    assert_snapshot!(away, @"
    warning: not all spans have reached the collector
    hint: check `OTEL_EXPORTER_OTLP_ENDPOINT`, or set `OTEL_TRACES_EXPORTER=none`
    ");
    assert_eq!(warnings(&Collector::start(0, CollectorBehavior::Refuses).endpoint()), away);
}

#[test]
fn a_collector_that_never_answers_does_not_delay_the_run() {
    let collector = Collector::start(0, CollectorBehavior::Silent);
    let world = World::new().variable(ENDPOINT, &collector.endpoint());
    let (output, took) = timed(&world, "list");
    assert!(output.status.success());
    assert_eq!(collector.requests().len(), 1);
    // The export may take one second; the rest is for a busy machine.
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("not all spans have reached"));
}

#[test]
fn an_unsupported_setting_causes_a_warning_and_disables_only_the_export() {
    let warnings = |name: &str, value: &str| {
        let world = World::new().variable(ENDPOINT, "http://127.0.0.1:1").variable(name, value);
        let output = world.output("config get");
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_snapshot!(warnings("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), @r#"
    warning: `OTEL_EXPORTER_OTLP_PROTOCOL` is "grpc", so no spans are exported
    hint: only `http/protobuf` is supported
    "#);
    assert_snapshot!(warnings("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"), @r#"
    warning: `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL` is "http/json", so no spans are exported
    hint: only `http/protobuf` is supported
    "#);
    assert_snapshot!(warnings("OTEL_TRACES_EXPORTER", "zipkin"), @r#"
    warning: `OTEL_TRACES_EXPORTER` is "zipkin", so no spans are exported
    hint: only `otlp` and `none` are supported
    "#);
    assert_snapshot!(warnings(ENDPOINT, "http://me:s3cret@[h/?key=s3cret"), @"
    warning: the OpenTelemetry endpoint is not a valid address, so no spans are exported
    hint: set `OTEL_EXPORTER_OTLP_ENDPOINT` to an address such as http://127.0.0.1:4318
    ");
}
