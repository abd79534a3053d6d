//! Quirks of how legacy servers respond to the probe, the request `server/discover`.

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, accepted};
use super::steps::{
    Step, Steps, event, event_stream, html_response, json_response, send, text_response,
};
use crate::quirk::mode::WORKS;
use crate::quirk::responses::{self, ClientMessage, JsonRpcError};

/// Responds to `server/discover` with these steps.
macro_rules! probe_response {
    ($name:literal, $description:literal, $expect:expr, |$request:pat_param| $steps:expr) => {
        HttpQuirk::new(
            $name,
            concat!("responds to `server/discover` with ", $description),
            $expect,
            HttpBehavior::HandleSome(|_, http_request| {
                let $request = discover_request(http_request)?;
                Some($steps)
            }),
        )
        .legacy()
    };
}

pub(super) const QUIRKS: &[HttpQuirk] = &[
    probe_response!("probe-400-text", "400 \"Missing sessionId\"", WORKS, |_| {
        vec![send(text_response("400 Bad Request", "Missing sessionId"))]
    }),
    probe_response!("probe-400-empty", "400 and an empty body", WORKS, |_| {
        vec![send(text_response("400 Bad Request", ""))]
    }),
    probe_response!("probe-404-page", "404 and HTML", WORKS, |_| vec![send(html_response(
        "404 Not Found"
    ))]),
    probe_response!("probe-405-text", "405", WORKS, |_| {
        vec![send(text_response("405 Method Not Allowed", "Method Not Allowed"))]
    }),
    probe_response!("probe-406", "406", WORKS, |_| vec![send(text_response(
        "406 Not Acceptable",
        "no"
    ))]),
    probe_response!("probe-415", "415", WORKS, |_| vec![send(text_response(
        "415 Unsupported Media Type",
        ""
    ))]),
    probe_response!("probe-422", "422 and details that are not JSON-RPC", WORKS, |_| {
        vec![send(json_response(
            "422 Unprocessable Content",
            r#"{"detail":[{"msg":"field required"}]}"#,
        ))]
    }),
    probe_response!("probe-500-page", "500 and HTML", WORKS, |_| {
        vec![send(html_response("500 Internal Server Error"))]
    }),
    probe_response!("probe-501", "501", WORKS, |_| vec![send(text_response(
        "501 Not Implemented",
        ""
    ))]),
    probe_response!("probe-200-32601", "200 and the error -32601", WORKS, |request| {
        rpc_error_response(request, "200 OK", -32601)
    }),
    probe_response!("probe-404-32601", "404 and the error -32601", WORKS, |request| {
        rpc_error_response(request, "404 Not Found", -32601)
    }),
    probe_response!("probe-400-32602", "400 and the error -32602", WORKS, |request| {
        rpc_error_response(request, "400 Bad Request", -32602)
    }),
    probe_response!("probe-200-empty-result", "200 and an empty result", WORKS, |request| {
        vec![send(json_response(
            "200 OK",
            &responses::rpc_response(request.id(), &Ok("{}".to_owned())),
        ))]
    }),
    probe_response!("probe-stream-error", "an event stream with an error", WORKS, |request| {
        let error = JsonRpcError::new(-32601, "Method not found");
        event_stream(&event(responses::rpc_response(request.id(), &Err(error))))
    }),
    probe_response!("probe-stream-empty", "an event stream without an event", WORKS, |_| {
        event_stream(":\n\n")
    }),
    probe_response!("probe-202", "202", WORKS, |_| accepted()),
    probe_response!("probe-empty", "200 and an empty body", WORKS, |_| vec![send(json_response(
        "200 OK", ""
    ))]),
    probe_response!("probe-page", "200 and HTML", WORKS, |_| vec![send(html_response("200 OK"))]),
    probe_response!(
        "probe-400-32022",
        "400 and the error -32022 with legacy versions",
        WORKS,
        |request| {
            let error = responses::unsupported_version(&["2025-06-18", "2025-11-25"]);
            vec![send(json_response(
                "400 Bad Request",
                &responses::rpc_response(request.id(), &Err(error)),
            ))]
        }
    ),
    probe_response!("probe-stalls", "nothing", WORKS, |_| vec![Step::Hang]),
    probe_response!("probe-drops", "a closed connection", WORKS, |_| vec![Step::Close]),
];

fn discover_request(http_request: &HttpRequest) -> Option<&ClientMessage> {
    http_request.rpc_request().filter(|request| request.method == "server/discover")
}

fn rpc_error_response(request: &ClientMessage, status: &str, code: i64) -> Steps {
    let error = JsonRpcError::new(code, "no such method");
    vec![send(json_response(status, &responses::rpc_response(request.id(), &Err(error))))]
}
