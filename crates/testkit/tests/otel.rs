//! With the feature `otel`, a call carries its trace context (`traceparent`) to the server.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use opentelemetry::trace::noop::NoopTracer;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use serde_json::{Value, json};
use tracing::Instrument;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;
use wharf::config::{Env, Platform};
use wharf::protocol::Json;
use wharf::{Options, discover_and_load_mcp_tools};
use wharf_testkit::actor::Script;

/// Calls a tool inside and outside a span of a trace, and returns the `_meta` of the calls.
async fn metas() -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let actor_log = Script::with_tools(["echo"]).write(folder.path());
    let actor = env!("CARGO_BIN_EXE_wharf-actor");
    let entry = json!({ "command": actor, "args": [folder.path()], "approval": "never" });
    let env = Env::new(Platform::HOST, folder.path())
        .with_home(folder.path())
        .with_system_root(folder.path())
        .with_variable("WHARF_MCP_SERVERS", json!({ "fs": entry }).to_string());
    let options = Options::new(env).store_in_wharf_home().one_shot();
    let loaded = discover_and_load_mcp_tools(folder.path(), options).await;
    let runtime = loaded.runtime.unwrap();
    let nothing = Json::object();
    let parent = SpanContext::new(
        TraceId::from(0xabc),
        SpanId::from(0xdef),
        TraceFlags::SAMPLED,
        true,
        TraceState::default(),
    );
    let span = tracing::info_span!("agent");
    span.set_parent(opentelemetry::Context::new().with_remote_span_context(parent)).unwrap();
    let outcome = runtime.call("mcp_fs_echo", &nothing).into_future().instrument(span).await;
    assert!(outcome.ok(), "{}", outcome.text);
    assert!(runtime.call("mcp_fs_echo", &nothing).await.ok());
    runtime.shutdown().await;
    actor_log.metas()
}

#[tokio::test]
async fn a_call_carries_its_trace_context() {
    let layer = wharf::otel::layer(NoopTracer::new());
    let listening = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let metas = metas().await;
    drop(listening);
    let parents: Vec<_> = metas.iter().map(|meta| meta["traceparent"].as_str()).collect();
    let expected = "00-00000000000000000000000000000abc-0000000000000def-01";
    assert_eq!(parents, [Some(expected), None]);
}
