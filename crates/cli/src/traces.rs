//! The run told to an OpenTelemetry collector over OTLP (feature `otel`).
//!
//! Nothing is sent unless the usual variables ask for it, and nothing that goes wrong here costs
//! more than the spans: the verb does its work, and the end of the run waits for the collector a
//! second at most. The variables that say how are read by OpenTelemetry itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Status, TracerProvider};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;
use wharf::otel::{CollectorClient, layer};
use wharf_config::Env;
use wharf_config::text::clip;

use crate::args::Flags;
use crate::commands::Exit;
use crate::host::Host;
use crate::log;
use crate::ui::{Ui, style};

/// How long the end of a run waits for the collector.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long one request to the collector may take while the verb works, unless a variable says so.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// What we call ourselves, unless a variable says otherwise.
const SERVICE: &str = "wharf";

/// What exports the spans of this run.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    /// Whether some spans did not arrive.
    has_lost_spans: Arc<AtomicBool>,
    /// The span that this run is a part of, if whoever started us says so.
    parent: Context,
    ui: Ui,
}

/// Starts the log, and to export if that is wanted.
pub(crate) fn init(flags: &Flags, host: &Host) -> Option<Traces> {
    let env = &host.env;
    let ui = Ui::new(flags, host.terminal, env);
    let exporter = match export_setting(env) {
        ExportSetting::Off => None,
        ExportSetting::Unsupported { why, hint } => {
            warn(&ui, &why, hint);
            None
        }
        ExportSetting::On => exporter(env).or_else(|| {
            let why = "the endpoint for OpenTelemetry is not understood";
            warn(
                &ui,
                why,
                "`OTEL_EXPORTER_OTLP_ENDPOINT` is an address such as http://127.0.0.1:4318",
            );
            None
        }),
    };
    let Some(exporter) = exporter else {
        log::init(flags, host);
        return None;
    };
    let has_lost_spans = Arc::clone(&exporter.has_lost_spans);
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource())
        .build();
    let spans = layer(provider.tracer(SERVICE));
    log::install(tracing_subscriber::registry().with(spans).with(log::layer(flags, host)));
    Some(Traces { provider, has_lost_spans, parent: parent(env), ui })
}

impl Traces {
    /// Runs a verb in a span of its own, and sends what is still to be sent.
    pub(crate) fn run(self, verb: &str, work: impl FnOnce() -> Exit) -> Exit {
        let span = tracing::info_span!("run", verb, otel.name = format!("{SERVICE} {verb}"));
        // It fails only where nobody records the span.
        drop(span.set_parent(self.parent));
        let exit = span.in_scope(work);
        let code = exit as u8;
        span.set_attribute("process.executable.name", SERVICE);
        span.set_attribute("process.pid", i64::from(std::process::id()));
        span.set_attribute("process.exit.code", i64::from(code));
        if exit != Exit::Success {
            span.set_attribute("error.type", code.to_string());
            span.set_status(Status::error(""));
        }
        drop(span);
        let ended = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        if ended.is_err() || self.has_lost_spans.load(Ordering::SeqCst) {
            let warning = style::warning("warning:");
            self.ui.notice(&format!("{warning} not all spans have reached the collector"));
            self.ui.hint("see `OTEL_EXPORTER_OTLP_ENDPOINT`, or say `OTEL_TRACES_EXPORTER=none`");
        }
        exit
    }
}

/// What the variables want of us.
#[derive(Debug, PartialEq, Eq)]
enum ExportSetting {
    Off,
    On,
    /// Something that we cannot do.
    Unsupported {
        why: String,
        hint: &'static str,
    },
}

/// Returns what a variable says about the export of traces, or else about exports of all kinds,
/// with the name of the variable.
fn otlp_variable(env: &Env, what: &str) -> Option<(String, String)> {
    let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
    names.into_iter().find_map(|name| {
        let value = env.nonempty_variable(&name)?.trim().to_ascii_lowercase();
        Some((name, value))
    })
}

/// Says that a variable has a value that cannot be followed.
fn unsupported(variable: &str, value: &str, hint: &'static str) -> ExportSetting {
    ExportSetting::Unsupported { why: format!("`{variable}` is \"{}\"", clip(value, 40)), hint }
}

fn export_setting(env: &Env) -> ExportSetting {
    let switch =
        |name: &str| env.nonempty_variable(name).map(|value| value.trim().to_ascii_lowercase());
    if switch("OTEL_SDK_DISABLED").as_deref() == Some("true") {
        return ExportSetting::Off;
    }
    match switch("OTEL_TRACES_EXPORTER").as_deref() {
        None if otlp_variable(env, "ENDPOINT").is_none() => return ExportSetting::Off,
        Some("none") => return ExportSetting::Off,
        None | Some("otlp") => {}
        Some(other) => {
            return unsupported(
                "OTEL_TRACES_EXPORTER",
                other,
                "only `otlp` and `none` are supported",
            );
        }
    }
    match otlp_variable(env, "PROTOCOL") {
        Some((variable, value)) if value != "http/protobuf" => {
            unsupported(&variable, &value, "only `http/protobuf` is supported")
        }
        _ => ExportSetting::On,
    }
}

/// An exporter that remembers whether something went wrong: the end of a provider does not tell.
#[derive(Debug)]
struct MonitoredExporter {
    exporter: SpanExporter,
    has_lost_spans: Arc<AtomicBool>,
}

impl opentelemetry_sdk::trace::SpanExporter for MonitoredExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.exporter.export(batch).await;
        self.has_lost_spans.fetch_or(result.is_err(), Ordering::SeqCst);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Makes what exports, as the variables say it.
fn exporter(env: &Env) -> Option<MonitoredExporter> {
    let said =
        otlp_variable(env, "TIMEOUT").and_then(|(_, milliseconds)| milliseconds.parse().ok());
    let collector =
        CollectorClient::new(env, said.map_or(REQUEST_TIMEOUT, Duration::from_millis)).ok()?;
    // Whoever waits for the end of a run does not wait for a collector to come back.
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_retry_policy(RetryPolicy::disabled())
        .build()
        .ok()?;
    Some(MonitoredExporter { exporter, has_lost_spans: Arc::default() })
}

/// Says who exports; a name or version that a variable gives counts.
fn resource() -> Resource {
    let given = Resource::builder().build();
    let name = given.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    let mut own = Resource::builder();
    if name.is_none_or(|name| name.starts_with("unknown_service")) {
        own = own.with_service_name(SERVICE);
    }
    let version = Key::from_static_str("service.version");
    if given.get(&version).is_none() {
        own = own.with_attribute(KeyValue::new(version, env!("CARGO_PKG_VERSION")));
    }
    own.build()
}

/// Returns the span that started us: `TRACEPARENT` and `TRACESTATE`, as other tools hand it on.
fn parent(env: &Env) -> Context {
    let names = [("traceparent", "TRACEPARENT"), ("tracestate", "TRACESTATE")];
    let carried = names.into_iter().filter_map(|(key, name)| {
        Some((key.to_owned(), env.nonempty_variable(name)?.trim().to_owned()))
    });
    let carried: HashMap<String, String> = carried.collect();
    // What is too short would be filled up with zeroes, and be the trace of somebody else.
    let parts = carried.get("traceparent").map(|told| told.split('-').map(str::len));
    if !parts.is_some_and(|parts| parts.take(4).eq([2, 32, 16, 2])) {
        return Context::new();
    }
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carried)
}

fn warn(ui: &Ui, why: &str, hint: &str) {
    ui.notice(&format!("{} {why}, so no spans are exported", style::warning("warning:")));
    ui.hint(hint);
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::TraceContextExt;
    use wharf_config::Platform;

    use super::*;

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

    fn env_with(variables: &[(&str, &str)]) -> Env {
        let env = Env::new(Platform::HOST, "/");
        variables.iter().fold(env, |env, (name, value)| env.with_variable(*name, *value))
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: &ExportSetting) {
        assert_eq!(export_setting(&env_with(variables)), *expected, "{variables:?}");
    }

    #[test]
    fn only_an_endpoint_or_an_exporter_by_name_starts_an_export() {
        check(&[], &ExportSetting::Off);
        check(&[("OTEL_SERVICE_NAME", "me")], &ExportSetting::Off);
        check(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], &ExportSetting::Off);
        check(&[ENDPOINT], &ExportSetting::On);
        check(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x/v1/traces")], &ExportSetting::On);
        check(&[("OTEL_TRACES_EXPORTER", "otlp")], &ExportSetting::On);
    }

    #[test]
    fn the_variables_can_switch_the_export_off() {
        check(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")], &ExportSetting::Off);
        check(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")], &ExportSetting::Off);
        check(&[ENDPOINT, ("OTEL_SDK_DISABLED", "false")], &ExportSetting::On);
    }

    #[test]
    fn unsupported_exporters_and_protocols_are_reported() {
        let is_unsupported = |variables: &[(&str, &str)]| {
            matches!(export_setting(&env_with(variables)), ExportSetting::Unsupported { .. })
        };
        assert!(is_unsupported(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]));
        assert!(is_unsupported(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "zipkin")]));
        let both = [
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
        ];
        check(&both, &ExportSetting::On);
    }

    #[test]
    fn the_span_that_started_us_is_the_parent() {
        let told = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        let trace = |variables: &[(&str, &str)]| {
            let parent = parent(&env_with(variables));
            parent.span().span_context().trace_id().to_string()
        };
        assert_eq!(trace(&[("TRACEPARENT", told)]), "0af7651916cd43dd8448eb211c80319c");
        for nonsense in ["", "hello", "00-0af7-00f0-01"] {
            assert_eq!(trace(&[("TRACEPARENT", nonsense)]), "0".repeat(32), "{nonsense}");
        }
    }
}
