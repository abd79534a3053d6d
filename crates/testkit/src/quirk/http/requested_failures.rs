//! A server that makes a call fail as its argument `do` requests, and records executed calls.
//!
//! The argument `do` has two words: `ran` or `not` (whether the call is executed before the
//! failure), and one of [`REQUESTED_FAILURES`]. A second call with the same text is executed and
//! gets a result. So if a client retries a call that `ran`, the call is executed twice.

use serde_json::Value;

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer, error_response, session_error_response};
use super::steps::{
    Step, Steps, chunk, event, http_response, json_response, send, stream_head, text_response,
};
use crate::quirk::mode::{QuirkEra, WORKS};
use crate::quirk::responses::{self, ClientMessage, JsonRpcError};

pub(super) const QUIRKS: &[HttpQuirk] = &[HttpQuirk::new(
    "as-told",
    "makes a call fail as its argument `do` requests",
    WORKS,
    HttpBehavior::HandleSome(handle),
)];

/// The failures that a call can request. Those of a legacy session have no effect in the modern
/// era.
pub const REQUESTED_FAILURES: &[&str] = &[
    "400",
    "400-session",
    "401",
    "403",
    "404-ours",
    "408",
    "429",
    "500",
    "500-ours",
    "502",
    "503",
    "504",
    "307",
    "308",
    "null-id",
    "other-id",
    "text",
    "header-mismatch",
    "version",
    "close",
    "reset",
    "cut",
    "session-gone",
];

fn handle(server: &mut HttpServer, http_request: &HttpRequest) -> Option<Steps> {
    let call = http_request.tool_call()?;
    let text = call.params.pointer("/arguments/text").and_then(Value::as_str).unwrap_or_default();
    let requested =
        call.params.pointer("/arguments/do").and_then(Value::as_str).unwrap_or_default();
    let (when, failure) = requested.split_once(' ').unwrap_or_default();
    if server.session_error(http_request).is_some() && server.era == QuirkEra::Legacy {
        return None;
    }
    let is_first = server.is_first_call(text);
    if !is_first || when != "not" {
        server.record_execution(text);
    }
    if is_first { fail(server, call, failure) } else { None }
}

fn fail(server: &mut HttpServer, call: &ClientMessage, failure: &str) -> Option<Steps> {
    let error = |code| JsonRpcError::new(code, "the crane broke");
    let rpc_error = |status: &str, code| error_response(call, status, error(code));
    let status = |status: &str| vec![send(text_response(status, "the crane broke"))];
    Some(match failure {
        "400" => status("400 Bad Request"),
        "401" => status("401 Unauthorized"),
        "403" => status("403 Forbidden"),
        "408" => status("408 Request Timeout"),
        "429" => status("429 Too Many Requests"),
        "500" => status("500 Internal Server Error"),
        "502" => status("502 Bad Gateway"),
        "503" => status("503 Service Unavailable"),
        "504" => status("504 Gateway Timeout"),
        "404-ours" => rpc_error("404 Not Found", -32000),
        "500-ours" => rpc_error("500 Internal Server Error", -32603),
        "header-mismatch" => rpc_error("400 Bad Request", -32020),
        "version" => rpc_error("400 Bad Request", -32022),
        "307" | "308" => {
            vec![send(http_response(&format!("{failure} Moved"), "Location: /moved\r\n", ""))]
        }
        "null-id" => vec![send(json_response(
            "200 OK",
            &responses::rpc_response("null", &Err(error(-32603))),
        ))],
        "other-id" => vec![send(json_response(
            "200 OK",
            &responses::rpc_response("999999", &Err(error(-32603))),
        ))],
        "text" => vec![send(text_response("200 OK", "the crane broke"))],
        "close" => vec![Step::Close],
        "reset" => vec![Step::Reset],
        "cut" => {
            let comment = event(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
            vec![send(stream_head() + &chunk(&comment)), Step::Close]
        }
        "400-session" if server.era == QuirkEra::Legacy => {
            server.session = None;
            session_error_response(
                "400 Bad Request",
                -32000,
                "Bad Request: No valid session ID provided",
            )
        }
        "session-gone" if server.era == QuirkEra::Legacy => {
            server.session = None;
            session_error_response("404 Not Found", -32001, "Session not found")
        }
        _ => return None,
    })
}
