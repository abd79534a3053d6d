//! The span attributes of the OpenTelemetry conventions for MCP and for generative AI.
//!
//! A `call` is an `execute_tool` span; each attempt to send it is a client span `tools/call`.
//! Attributes that may be secret are not set: arguments, results, addresses of servers and
//! resources, session ids (some servers accept one as a credential), and any text of a server.
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/>

use opentelemetry::trace::Status;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use wharf_protocol::Peer;
use wharf_protocol::peer::RequestError;
use wharf_protocol::view::ToolResult;

use crate::call::{CallError, CallErrorReason};
use crate::status::FailureKind;
use crate::tools::Tool;

/// The `error.type` of a tool result with `isError`.
const TOOL_ERROR: &str = "tool_error";

/// The method of a call.
const CALL: &str = "tools/call";

/// Sets the protocol version and the transport.
pub(crate) fn set_peer(span: &Span, peer: &Peer) {
    span.set_attribute("mcp.protocol.version", peer.revision().as_str());
    match peer.transport() {
        "http" | "sse" => {
            span.set_attribute("network.transport", "tcp");
            span.set_attribute("network.protocol.name", "http");
        }
        // The program may have opened any channel, but to Wharf it is a pipe.
        _ => span.set_attribute("network.transport", "pipe"),
    }
}

/// Sets the error type of a server that is not connected.
pub(crate) fn set_failure(span: &Span, kind: FailureKind) {
    let kind = match kind {
        FailureKind::Config => "config",
        FailureKind::Start => "start",
        FailureKind::Connect => "connect",
        FailureKind::TimedOut => "timeout",
        FailureKind::NeedsAuth => "needs_auth",
        FailureKind::Lost => "lost",
        FailureKind::Stopped => "stopped",
    };
    set_error(span, kind);
}

/// Sets the operation and the tool of a call.
pub(crate) fn set_call(span: &Span, tool: &Tool) {
    if span.is_disabled() {
        return;
    }
    span.record("otel.name", format!("execute_tool {}", tool.tool()));
    span.set_attribute("gen_ai.operation.name", "execute_tool");
    span.set_attribute("gen_ai.tool.name", tool.tool().to_owned());
}

/// Sets the error type of a call, if it failed.
pub(crate) fn set_call_result(span: &Span, result: &Result<ToolResult, CallError>) {
    match result {
        Ok(result) if result.is_error() => set_error(span, TOOL_ERROR),
        Ok(_) => {}
        Err(error) => set_error(span, error_type(error.reason)),
    }
}

/// Sets the method and the tool of an attempt.
pub(crate) fn set_attempt(span: &Span, tool: &Tool, to: &Peer) {
    if span.is_disabled() {
        return;
    }
    span.record("otel.name", format!("{CALL} {}", tool.tool()));
    span.record("otel.kind", "client");
    span.set_attribute("mcp.method.name", CALL);
    span.set_attribute("gen_ai.tool.name", tool.tool().to_owned());
    set_peer(span, to);
}

/// Sets the method of a request.
pub(crate) fn set_request(span: &Span, method: &'static str, to: &Peer) {
    span.record("otel.name", method);
    span.record("otel.kind", "client");
    span.set_attribute("mcp.method.name", method);
    set_peer(span, to);
}

/// Sets the error type of a request without a result.
pub(crate) fn set_request_error(span: &Span, error: &RequestError) {
    if let Some(status) = error.status() {
        return set_error(span, status.as_str().to_owned());
    }
    let kind = match error.innermost() {
        RequestError::ErrorResponse(error) | RequestError::Inconclusive { error, .. } => {
            let code = error.code.to_string();
            span.set_attribute("rpc.response.status_code", code.clone());
            return set_error(span, code);
        }
        RequestError::TimedOut { .. } => "timeout",
        RequestError::Lost { .. } | RequestError::StreamEnded => "lost",
        RequestError::Http(_) => "http",
        RequestError::TooLarge { .. } | RequestError::InvalidResponse(_) => "invalid_response",
        RequestError::InputUnavailable(_) | RequestError::TooManyRounds(_) => "unanswered",
        _ => "_OTHER",
    };
    set_error(span, kind);
}

/// Sets the error type of a tool result with `isError`.
pub(crate) fn set_tool_error(span: &Span) {
    set_error(span, TOOL_ERROR);
}

/// Sets the error type, which must not be text of a server.
pub(crate) fn set_error(span: &Span, kind: impl Into<opentelemetry::Value>) {
    span.set_attribute("error.type", kind);
    span.set_status(Status::error(""));
}

fn error_type(reason: CallErrorReason) -> &'static str {
    match reason {
        CallErrorReason::UnknownTool => "unknown_tool",
        CallErrorReason::BadArguments => "bad_arguments",
        CallErrorReason::Denied => "denied",
        CallErrorReason::Withheld => "withheld",
        CallErrorReason::Untrusted => "untrusted",
        CallErrorReason::Disabled => "disabled",
        CallErrorReason::NotUsed => "not_used",
        CallErrorReason::Omitted => "omitted",
        CallErrorReason::NeedsAuth => "needs_auth",
        CallErrorReason::TimedOut => "timeout",
        CallErrorReason::Connect => "connect",
        CallErrorReason::Lost => "lost",
        CallErrorReason::Cancelled => "cancelled",
        CallErrorReason::ErrorResponse => "error_response",
        CallErrorReason::InvalidResponse => "invalid_response",
        CallErrorReason::Unanswered => "unanswered",
        CallErrorReason::Unsendable => "unsendable",
        CallErrorReason::ToolFailed => TOOL_ERROR,
    }
}
