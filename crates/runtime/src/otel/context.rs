//! Trace context (W3C): sent to servers in `_meta`, and kept as the parent of connection spans.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use wharf_protocol::Json;

/// The key in `_meta` of the span that a request belongs to.
const TRACEPARENT: &str = "traceparent";

/// The key in `_meta` of data of the tracing systems.
const TRACESTATE: &str = "tracestate";

/// The context of the span in which a runtime was started.
///
/// It is kept instead of the span itself: connections last long and must not keep the span open.
#[derive(Debug, Clone)]
pub(crate) struct ParentContext(SpanContext);

impl ParentContext {
    /// Takes the current span.
    pub(crate) fn current() -> Self {
        Self(Span::current().context().span().span_context().clone())
    }

    /// Makes this context the parent of a span that has not started.
    pub(crate) fn set_parent_of(&self, span: &Span) {
        if self.0.is_valid() {
            let parent = Context::new().with_remote_span_context(self.0.clone());
            // An error means that the span is not recorded.
            drop(span.set_parent(parent));
        }
    }
}

/// Adds the trace context of a span to `_meta`, unless the caller has set it.
pub(crate) fn add_to_meta(span: &Span, meta: &mut Vec<(String, Json)>) {
    if span.is_disabled() {
        return;
    }
    if meta.iter().any(|(key, _)| key == TRACEPARENT) {
        return;
    }
    let context = span.context();
    for (key, value) in trace_context(context.span().span_context()) {
        // A string is always valid JSON.
        meta.extend(Json::encode(&value).map(|value| (key.to_owned(), value)));
    }
}

/// Returns the W3C Trace Context of a span; empty for an invalid one.
fn trace_context(span: &SpanContext) -> Vec<(&'static str, String)> {
    if !span.is_valid() {
        return Vec::new();
    }
    let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags());
    let mut trace_context = vec![(TRACEPARENT, format!("00-{trace:032x}-{id:016x}-{flags:02x}"))];
    let state = span.trace_state().header();
    if !state.is_empty() {
        trace_context.push((TRACESTATE, state));
    }
    trace_context
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use opentelemetry::trace::noop::NoopTracer;
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::otel::layer;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

    fn remote(state: &str) -> SpanContext {
        SpanContext::new(
            TraceId::from_hex("0af7651916cd43dd8448eb211c80319c").unwrap(),
            SpanId::from_hex("00f067aa0ba902b7").unwrap(),
            TraceFlags::SAMPLED,
            true,
            TraceState::from_str(state).unwrap(),
        )
    }

    /// Adds the context of a span with this parent; the no-op tracer keeps the parent's context.
    fn meta_with_span(parent: Option<SpanContext>, initial: &[(&str, &str)]) -> String {
        let subscriber = tracing_subscriber::registry().with(layer(NoopTracer::new()));
        let mut meta: Vec<(String, Json)> =
            initial.iter().map(|(key, text)| ((*key).to_owned(), text.parse().unwrap())).collect();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::debug_span!("attempt", otel.kind = tracing::field::Empty);
            if let Some(parent) = parent {
                let parent = Context::new().with_remote_span_context(parent);
                span.set_parent(parent).unwrap();
            }
            add_to_meta(&span, &mut meta);
        });
        let lines = meta.iter().map(|(key, value)| format!("{key}: {}", value.as_str()));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn meta_contains_traceparent_and_tracestate() {
        assert_eq!(meta_with_span(Some(remote("")), &[]), format!("traceparent: \"{PARENT}\""));
        insta::assert_snapshot!(meta_with_span(Some(remote("a=1,b=2")), &[("mine", "1")]), @r#"
        mine: 1
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
        tracestate: "a=1,b=2"
        "#);
    }

    #[test]
    fn a_traceparent_of_the_caller_is_kept() {
        insta::assert_snapshot!(meta_with_span(Some(remote("a=1")), &[("traceparent", "\"theirs\"")]), @r#"traceparent: "theirs""#);
    }

    #[test]
    fn without_a_trace_nothing_is_added() {
        assert_eq!(meta_with_span(None, &[]), "");
        let mut meta = Vec::new();
        add_to_meta(&Span::none(), &mut meta);
        add_to_meta(&tracing::debug_span!("nobody listens"), &mut meta);
        assert!(meta.is_empty());
    }
}
