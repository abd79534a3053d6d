//! The `tracing` spans of the runtime: their names and fields.
//!
//! ```text
//! connection   one server, from the attempt to connect until the connection has ended
//!   connect    the attempt: resolve, start or reach, negotiate a revision, list the tools
//! call         one tool call: checks, approval, waiting, sending
//!   attempt    one time that the call is sent
//! request      one request other than a call
//! ```
//!
//! A call belongs to the trace of its caller, so it only follows from the connection that it uses.
//! No field has data that was sent or received. The attributes for OpenTelemetry are in
//! `otel/attributes.rs`.

use tracing::Span;
use tracing::field::{Empty, debug};
use tracing::span::Id;
use wharf_config::ServerName;
use wharf_protocol::Peer;
use wharf_protocol::peer::{RequestError, RequestOptions};
use wharf_protocol::view::ToolResult;

use crate::call::CallError;
use crate::call_context::CallContext;
#[cfg(feature = "otel")]
use crate::otel::{attributes, context};
use crate::status::ServerFailure;
use crate::tools::Tool;

/// The span in which a runtime was started: the parent of its connection spans.
#[derive(Debug, Clone)]
pub(crate) struct ParentSpan {
    #[cfg(feature = "otel")]
    span: context::ParentContext,
}

impl ParentSpan {
    /// Takes the current span.
    pub(crate) fn current() -> Self {
        Self {
            #[cfg(feature = "otel")]
            span: context::ParentContext::current(),
        }
    }
}

/// The span of a connection, from the attempt to connect until the connection has ended.
#[derive(Debug)]
pub(crate) struct ConnectionSpan(Span);

/// How a connection ended.
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "why it failed is for traces"))]
pub(crate) enum ConnectionEnd<'a> {
    /// The host stopped it.
    Stopped,
    /// A reconnect replaces it.
    Replaced,
    /// The connection was lost.
    Lost,
    /// Connecting failed, or a check of the connection.
    Failed(&'a ServerFailure),
}

impl ConnectionSpan {
    /// Starts the span with the `attempt`-th attempt in a row to connect.
    #[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "for traces only"))]
    pub(crate) fn begin(server: &ServerName, attempt: u32, parent: &ParentSpan) -> Self {
        let span = tracing::info_span!(
            "connection", %server, attempt, transport = Empty, era = Empty, ended = Empty
        );
        #[cfg(feature = "otel")]
        parent.span.set_parent_of(&span);
        Self(span)
    }

    /// Returns the span to run in.
    pub(crate) fn span(&self) -> Span {
        self.0.clone()
    }

    /// Returns its id, for spans that follow from it.
    pub(crate) fn id(&self) -> Option<Id> {
        self.0.id()
    }

    /// Records the transport and the era.
    pub(crate) fn established(&self, peer: &Peer) {
        record_peer(&self.0, peer);
    }

    /// Records how the connection ended.
    pub(crate) fn end(self, end: &ConnectionEnd<'_>) {
        self.0.record("ended", end.word());
        #[cfg(feature = "otel")]
        match end {
            ConnectionEnd::Stopped | ConnectionEnd::Replaced => {}
            ConnectionEnd::Lost => attributes::set_error(&self.0, end.word()),
            ConnectionEnd::Failed(failure) => attributes::set_failure(&self.0, failure.kind),
        }
    }
}

impl ConnectionEnd<'_> {
    fn word(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Replaced => "replaced",
            Self::Lost => "lost",
            Self::Failed(_) => "failed",
        }
    }
}

/// Creates the span of an attempt to connect.
pub(crate) fn connect_span(server: &ServerName, attempt: u32) -> Span {
    tracing::info_span!("connect", %server, attempt, transport = Empty, era = Empty)
}

/// Records the outcome of an attempt to connect.
pub(crate) fn record_connect(span: &Span, outcome: Result<&Peer, &ServerFailure>) {
    // A failure may contain text of the server, so only its kind is recorded.
    span.in_scope(|| match outcome {
        Ok(peer) => {
            record_peer(span, peer);
            tracing::info!(revision = %peer.revision(), "server started");
        }
        Err(failure) => {
            #[cfg(feature = "otel")]
            attributes::set_failure(span, failure.kind);
            tracing::warn!(kind = ?failure.kind, "server did not start");
        }
    });
}

fn record_peer(span: &Span, peer: &Peer) {
    span.record("transport", peer.transport());
    span.record("era", debug(peer.era()));
    #[cfg(feature = "otel")]
    attributes::set_peer(span, peer);
}

/// Creates the span of a call.
pub(crate) fn call_span(tool: &Tool, context: Option<&CallContext>) -> Span {
    let span = tracing::debug_span!(
        "call",
        server = %tool.server(),
        tool = tool.tool(),
        context = context.map(CallContext::id),
        otel.name = Empty
    );
    #[cfg(feature = "otel")]
    attributes::set_call(&span, tool);
    span
}

/// Records how a call ended: only the kind, as the message may be text of the server.
pub(crate) fn record_call(span: &Span, result: &Result<ToolResult, CallError>) {
    #[cfg(feature = "otel")]
    attributes::set_call_result(span, result);
    span.in_scope(|| match result {
        Ok(result) => tracing::debug!(is_error = result.is_error(), "call answered"),
        Err(error) => {
            tracing::debug!(kind = error.kind.word(), reason = ?error.reason, "call failed");
        }
    });
}

/// Creates the span of one attempt to send a call, and adds its trace context to `_meta`.
#[cfg_attr(
    not(feature = "otel"),
    expect(unused_variables, clippy::needless_pass_by_ref_mut, reason = "only `otel` adds to it")
)]
pub(crate) fn attempt_span(
    attempt: u32,
    tool: &Tool,
    span_id: Option<&Id>,
    peer: &Peer,
    options: &mut RequestOptions,
) -> Span {
    let span = tracing::debug_span!(
        "attempt", attempt, era = ?peer.era(), otel.name = Empty, otel.kind = Empty
    );
    span.follows_from(span_id.cloned());
    #[cfg(feature = "otel")]
    {
        attributes::set_attempt(&span, tool, peer);
        context::add_to_meta(&span, &mut options.meta);
    }
    span
}

/// Creates the span of a request other than a call, and adds its trace context to `_meta`.
#[cfg_attr(
    not(feature = "otel"),
    expect(clippy::needless_pass_by_ref_mut, unused_variables, reason = "only `otel` adds to it")
)]
pub(crate) fn request_span(
    method: &'static str,
    server: &ServerName,
    span_id: Option<&Id>,
    peer: &Peer,
    options: &mut RequestOptions,
) -> Span {
    let span = tracing::debug_span!(
        "request", %server, method, era = ?peer.era(),
        otel.name = Empty, otel.kind = Empty
    );
    span.follows_from(span_id.cloned());
    #[cfg(feature = "otel")]
    {
        attributes::set_request(&span, method, peer);
        context::add_to_meta(&span, &mut options.meta);
    }
    span
}

/// Records the outcome of one attempt of a call.
#[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "for traces only"))]
pub(crate) fn record_attempt(span: &Span, result: &Result<ToolResult, RequestError>) {
    #[cfg(feature = "otel")]
    match result {
        Ok(result) if result.is_error() => attributes::set_tool_error(span),
        result => record_request(span, result),
    }
}

/// Records the outcome of a request.
#[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "for traces only"))]
pub(crate) fn record_request<T>(span: &Span, result: &Result<T, RequestError>) {
    #[cfg(feature = "otel")]
    if let Err(error) = result {
        attributes::set_request_error(span, error);
    }
}
