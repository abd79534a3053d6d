//! Exports the spans of a run to an OpenTelemetry collector over OTLP (feature `otel`).
//!
//! Nothing is sent unless the standard `OTEL_…` variables ask for it. A failure here costs only the
//! spans: the verb runs anyway, and the end of the run waits for the collector at most
//! [`SHUTDOWN_TIMEOUT`]. OpenTelemetry itself reads the other variables.

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

/// The longest time that the end of a run waits for the collector.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The timeout of one request to the collector, unless a variable sets another.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The service name, unless a variable sets another.
const SERVICE: &str = "wharf";

/// The exporter of this run.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    /// Whether an export has failed.
    has_lost_spans: Arc<AtomicBool>,
    /// The parent span from `TRACEPARENT`, if there is one.
    parent: Context,
    ui: Ui,
}

/// Starts the log, and the export if it is requested.
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
            let why = "the OpenTelemetry endpoint is not a valid address";
            warn(
                &ui,
                why,
                "set `OTEL_EXPORTER_OTLP_ENDPOINT` to an address such as http://127.0.0.1:4318",
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
    /// Runs a verb in a span, and exports the remaining spans.
    pub(crate) fn run(self, verb: &str, work: impl FnOnce() -> Exit) -> Exit {
        let span = tracing::info_span!("run", verb, otel.name = format!("{SERVICE} {verb}"));
        // It fails only if the span is not recorded.
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
            self.ui.hint("check `OTEL_EXPORTER_OTLP_ENDPOINT`, or set `OTEL_TRACES_EXPORTER=none`");
        }
        exit
    }
}

/// What the variables ask for.
#[derive(Debug, PartialEq, Eq)]
enum ExportSetting {
    Off,
    On,
    /// The variables ask for something that is not supported.
    Unsupported {
        why: String,
        hint: &'static str,
    },
}

/// Returns the name and value of the OTLP variable for traces, or else of the one for all signals.
fn otlp_variable(env: &Env, what: &str) -> Option<(String, String)> {
    let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
    names.into_iter().find_map(|name| {
        let value = env.nonempty_variable(&name)?.trim().to_ascii_lowercase();
        Some((name, value))
    })
}

/// Reports a variable whose value is not supported.
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

/// An exporter that records failures, because the shutdown of a provider does not report them.
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

/// Creates the exporter from the variables.
fn exporter(env: &Env) -> Option<MonitoredExporter> {
    let configured =
        otlp_variable(env, "TIMEOUT").and_then(|(_, milliseconds)| milliseconds.parse().ok());
    let collector =
        CollectorClient::new(env, configured.map_or(REQUEST_TIMEOUT, Duration::from_millis))
            .ok()?;
    // Retries would delay the end of the run.
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_retry_policy(RetryPolicy::disabled())
        .build()
        .ok()?;
    Some(MonitoredExporter { exporter, has_lost_spans: Arc::default() })
}

/// Describes the service; a name or version from a variable takes precedence.
fn resource() -> Resource {
    let detected = Resource::builder().build();
    let name = detected.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    let mut own = Resource::builder();
    if name.is_none_or(|name| name.starts_with("unknown_service")) {
        own = own.with_service_name(SERVICE);
    }
    let version = Key::from_static_str("service.version");
    if detected.get(&version).is_none() {
        own = own.with_attribute(KeyValue::new(version, env!("CARGO_PKG_VERSION")));
    }
    own.build()
}

/// Returns the parent span from `TRACEPARENT` and `TRACESTATE`.
fn parent(env: &Env) -> Context {
    let names = [("traceparent", "TRACEPARENT"), ("tracestate", "TRACESTATE")];
    let carried = names.into_iter().filter_map(|(key, name)| {
        Some((key.to_owned(), env.nonempty_variable(name)?.trim().to_owned()))
    });
    let carried: HashMap<String, String> = carried.collect();
    // The propagator would pad a short id with zeroes, which makes it a different trace.
    let parts = carried.get("traceparent").map(|traceparent| traceparent.split('-').map(str::len));
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
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        let trace = |variables: &[(&str, &str)]| {
            let parent = parent(&env_with(variables));
            parent.span().span_context().trace_id().to_string()
        };
        assert_eq!(trace(&[("TRACEPARENT", traceparent)]), "0af7651916cd43dd8448eb211c80319c");
        for nonsense in ["", "hello", "00-0af7-00f0-01"] {
            assert_eq!(trace(&[("TRACEPARENT", nonsense)]), "0".repeat(32), "{nonsense}");
        }
    }
}
