//! The `tracing` layer that passes the spans of Wharf to an OpenTelemetry tracer.

use opentelemetry::trace::Tracer;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

/// Returns a layer that exports spans with a tracer: connections with their attempts to connect,
/// calls with their attempts to send, and other requests.
///
/// It exports spans of Wharf down to `debug`, and of all other code down to `info`: below that,
/// HTTP libraries log what they send. A program that already has such a layer does not need this
/// one.
///
/// ```
/// use opentelemetry::trace::noop::NoopTracer;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// // A program that exports passes the tracer of its `opentelemetry_sdk` provider.
/// let subscriber = tracing_subscriber::registry().with(wharf::otel::layer(NoopTracer::new()));
/// tracing::subscriber::with_default(subscriber, || tracing::info!("observed"));
/// ```
pub fn layer<S, T>(tracer: T) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync,
{
    let enough =
        Targets::new().with_default(LevelFilter::INFO).with_target("wharf", LevelFilter::DEBUG);
    tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(enough)
}
