//! The layer that hands our spans to a tracer.

use opentelemetry::trace::Tracer;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

/// Returns a layer that exports spans with a tracer: the life of each connection with the attempt
/// to make it, calls with each time they are sent, and other requests.
///
/// Of Wharf it takes everything down to `debug`, of all other code down to `info`: below that,
/// HTTP libraries tell what they send. A program that has such a layer already needs no second one.
///
/// ```
/// use opentelemetry::trace::noop::NoopTracer;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// // A program that exports takes the tracer of its `opentelemetry_sdk` provider here.
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
