//! Quirks of modern servers on HTTP: headers, versions, required input, subscriptions.

use serde_json::Value;

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer, acknowledgement, error_response};
use super::steps::{
    LAST_CHUNK, Step, Steps, chunk, event, event_stream, html_response, http_response,
    json_response, send, stream_head,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses::{self, ClientMessage, JsonRpcError};

const fn modern(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut HttpServer, &HttpRequest) -> Option<Steps>,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::HandleSome(handle)).modern()
}

pub(super) const QUIRKS: &[HttpQuirk] = &[
    modern(
        "mismatch-once",
        "responds to calls with 400 and -32020 until the tools are listed again",
        WORKS,
        |server, http_request| {
            let request = http_request.tool_call()?;
            (server.request_count("tools/list") < 2).then(|| {
                error_response(
                    request,
                    "400 Bad Request",
                    JsonRpcError::new(-32020, "Header mismatch"),
                )
            })
        },
    ),
    modern(
        "mismatch-for-ever",
        "responds to every call with 400 and -32020",
        call_fails(FailureReason::ErrorResponse),
        |_, http_request| {
            let request = http_request.tool_call()?;
            Some(error_response(
                request,
                "400 Bad Request",
                JsonRpcError::new(-32020, "Header mismatch"),
            ))
        },
    ),
    modern(
        "version-once",
        "responds to the first request with 400 and -32022 although it supports the version",
        WORKS,
        |server, http_request| {
            let request = http_request.rpc_request()?;
            (server.request_count("POST") == 1).then(|| {
                let error = responses::unsupported_version(&[responses::MODERN_VERSION]);
                error_response(request, "400 Bad Request", error)
            })
        },
    ),
    modern(
        "version-future",
        "supports only a version of the far future",
        ExpectedOutcome::ConnectFails { because: FailureReason::NoCommonVersion },
        |_, http_request| {
            let error = responses::unsupported_version(&["2099-01-01"]);
            Some(error_response(http_request.rpc_request()?, "400 Bad Request", error))
        },
    ),
    modern(
        "errors-with-200",
        "sends every error with status 200",
        WORKS,
        |server, http_request| {
            let request = http_request.rpc_request()?;
            let outcome = responses::correct_result(server.era, request);
            Some(vec![send(json_response(
                "200 OK",
                &responses::rpc_response(request.id(), &outcome),
            ))])
        },
    ),
    modern(
        "unknown-page",
        "responds to unknown methods with 404 and HTML",
        WORKS,
        |server, http_request| {
            let request = http_request.rpc_request()?;
            let unknown = responses::correct_result(server.era, request)
                .is_err_and(|error| error.code == -32601);
            unknown.then(|| vec![send(html_response("404 Not Found"))])
        },
    ),
    modern(
        "session-id-sent",
        "sends a session id, which modern servers do not have",
        WORKS,
        |server, http_request| {
            let request =
                http_request.rpc_request().filter(|request| request.method != "initialize")?;
            let response = responses::rpc_response(
                request.id(),
                &responses::correct_result(server.era, request),
            );
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: berth-1\r\n";
            Some(vec![send(http_response("200 OK", headers, &response))])
        },
    ),
    modern(
        "tool-header",
        "requires the argument `text` in a header as well",
        WORKS,
        |_, http_request| {
            if let Some(request) = request_of(http_request, "tools/list") {
                return Some(tools_response(request, ""));
            }
            let request = http_request.tool_call()?;
            let text = request.params.pointer("/arguments/text").and_then(Value::as_str);
            let header = http_request.header("mcp-param-text");
            let is_encoded = header.is_some_and(|value| value.starts_with("=?base64?"));
            (header != text && !is_encoded).then(|| {
                error_response(
                    request,
                    "400 Bad Request",
                    JsonRpcError::new(-32020, "Mcp-Param-Text is missing"),
                )
            })
        },
    ),
    modern(
        "tool-header-invalid",
        "has tools with an invalid `x-mcp-header`; they must not be listed",
        WARNS,
        |_, http_request| {
            let invalid = r#",{"name":"odd-object","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},{"name":"odd-name","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"bad name:"}}}},{"name":"odd-twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}}"#;
            request_of(http_request, "tools/list").map(|request| tools_response(request, invalid))
        },
    ),
    modern(
        "input-once",
        "requires a second request with its state, and no input",
        WORKS,
        |server, http_request| {
            let request = http_request.tool_call()?;
            let state = " \u{1F6A2} \"state\" ";
            if server.held_request.replace(request.clone()).is_none() {
                let result = format!(
                    r#"{{"resultType":"input_required","requestState":{}}}"#,
                    Value::from(state)
                );
                return Some(vec![send(json_response(
                    "200 OK",
                    &responses::rpc_response(request.id(), &Ok(result)),
                ))]);
            }
            let is_exact = request.params.get("requestState") == Some(&Value::from(state));
            (!is_exact).then(|| {
                error_response(request, "200 OK", JsonRpcError::new(-32602, "the state changed"))
            })
        },
    ),
    modern(
        "lost-once",
        "ends the stream of its first call without a response; the call must not be sent again",
        call_fails(FailureReason::Ended),
        |server, http_request| {
            http_request.tool_call()?;
            (server.request_count("tools/call") == 1).then(|| event_stream(": lost\n\n"))
        },
    ),
    subscription("listen", "notifies a subscription that its tools changed", |_, request| {
        let changed = event(list_changed(request));
        vec![
            send(stream_head() + &chunk(&(event(acknowledgement(request)) + &changed))),
            Step::Hang,
        ]
    }),
    subscription("listen-drops", "closes every subscription at once", |_, request| {
        event_stream(&event(acknowledgement(request)))
    }),
    subscription("listen-resets", "resets the connection of every subscription", |_, request| {
        vec![send(stream_head() + &chunk(&event(acknowledgement(request)))), Step::Reset]
    }),
    subscription("listen-ends", "ends every subscription with a result", |_, request| {
        let id = request.id();
        let result = format!(
            r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#
        );
        let end = event(responses::rpc_response(id, &Ok(result)));
        event_stream(&(event(acknowledgement(request)) + &end))
    }),
    subscription("listen-json", "responds to a subscription with JSON", |_, request| {
        vec![send(json_response(
            "200 OK",
            &responses::rpc_response(request.id(), &Ok("{}".to_owned())),
        ))]
    }),
    subscription("listen-404", "does not support subscriptions", |_, request| {
        error_response(request, "404 Not Found", JsonRpcError::new(-32601, "Method not found"))
    }),
    subscription("listen-silent", "opens a subscription and never acknowledges it", |_, _| {
        vec![send(stream_head()), Step::Hang]
    }),
    subscription("listen-empty", "ends a subscription without an event", |_, _| {
        vec![send(stream_head() + LAST_CHUNK)]
    }),
];

const fn subscription(
    name: &'static str,
    description: &'static str,
    handle: fn(&mut HttpServer, &ClientMessage) -> Steps,
) -> HttpQuirk {
    HttpQuirk::new(name, description, WORKS, HttpBehavior::RespondToListen(handle))
        .modern()
        .tagged(&[ModeTag::NeedsListening])
}

fn list_changed(request: &ClientMessage) -> String {
    let id = request.id();
    responses::notification(
        "notifications/tools/list_changed",
        &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
    )
}

fn request_of<'a>(http_request: &'a HttpRequest, method: &str) -> Option<&'a ClientMessage> {
    http_request.rpc_request().filter(|request| request.method == method)
}

/// Returns a list whose tool `echo` requires its argument in a header, unless there are more tools.
fn tools_response(request: &ClientMessage, more: &str) -> Steps {
    let echo = responses::ECHO_TOOL.replacen(
        r#"{"type":"string"}"#,
        r#"{"type":"string","x-mcp-header":"Text"}"#,
        1,
    );
    let echo = if more.is_empty() { &echo } else { responses::ECHO_TOOL };
    let result = format!(
        r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{echo},{}{more}]}}"#,
        responses::ADD_TOOL
    );
    vec![send(json_response("200 OK", &responses::rpc_response(request.id(), &Ok(result))))]
}
