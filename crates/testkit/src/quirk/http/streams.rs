//! Quirks of legacy streams: resumption with `Last-Event-ID`, the GET stream, server requests.

use serde_json::Value;

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer, accepted};
use super::steps::{
    LAST_CHUNK, Step, Steps, StreamCommand, chunk, event, event_stream, html_response, send,
    stream_head, text_response,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WORKS, call_fails};
use crate::quirk::responses;

const fn legacy(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut HttpServer, &HttpRequest) -> Option<Steps>,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::HandleSome(handle)).legacy()
}

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

pub(super) const QUIRKS: &[HttpQuirk] = &[
    legacy(
        "resume",
        "closes the stream of a call after a first event; a GET with `Last-Event-ID`, 50 ms later, gets the response",
        WORKS,
        |server, http_request| resume(server, http_request, "retry: 50\n", 1),
    ),
    legacy(
        "resume-without-retry",
        "does the same without a `retry` field",
        WORKS,
        |server, http_request| resume(server, http_request, "", 1),
    ),
    legacy(
        "resume-thrice",
        "closes the stream three times before the response",
        WORKS,
        |server, http_request| resume(server, http_request, "retry: 10\n", 3),
    ),
    legacy(
        "resume-for-ever",
        "closes the stream each time and never sends the response",
        call_fails(FailureReason::TimedOut),
        |server, http_request| resume(server, http_request, "retry: 10\n", u32::MAX),
    ),
    legacy(
        "resume-nonsense-retry",
        "sends a `retry` of a hundred years, which no call waits for",
        call_fails(FailureReason::TimedOut),
        |server, http_request| resume(server, http_request, "retry: 3155760000000\n", 1),
    ),
    legacy(
        "resume-refused",
        "closes the stream of a call after a first event and then rejects GET",
        call_fails(FailureReason::Ended),
        |_, http_request| {
            http_request.tool_call()?;
            Some(event_stream("id: e-1\ndata: \n\n"))
        },
    ),
    legacy(
        "resume-after-cut",
        "closes the connection in the middle of the body after an event with an id; a GET gets the response",
        WORKS,
        |server, http_request| {
            if let Some(call) = http_request.tool_call() {
                server.held_request = Some(call.clone());
                let first = format!("id: e-1\n{}", event(CHANGED));
                return Some(vec![send(stream_head() + &chunk(&first)), Step::Close]);
            }
            continue_stream(server, http_request, "", 1)
        },
    ),
    legacy(
        "get-stream",
        "notifies six times on its GET stream that the tools changed",
        WORKS,
        |server, http_request| {
            let body = open_get_stream(server, http_request)?;
            Some(vec![send(stream_head() + &chunk(&event(CHANGED).repeat(6))), body])
        },
    )
    .tagged(&[ModeTag::NeedsListening]),
    legacy(
        "get-asks",
        "sends requests on its GET stream: a ping, the roots and an unknown method",
        WORKS,
        |server, http_request| {
            let body = open_get_stream(server, http_request)?;
            let requests: String = ["ping", "roots/list", "harbour/pilot"]
                .iter()
                .map(|method| {
                    event(format!(r#"{{"jsonrpc":"2.0","id":"{method}","method":"{method}"}}"#))
                })
                .collect();
            Some(vec![send(stream_head() + &chunk(&requests)), body])
        },
    )
    .tagged(&[ModeTag::NeedsListening]),
    legacy("get-404", "responds to GET with 404 and HTML", WORKS, |_, http_request| {
        http_request.has_http_method("GET").then(|| vec![send(html_response("404 Not Found"))])
    }),
    legacy("get-page", "responds to GET with HTML", WORKS, |_, http_request| {
        http_request.has_http_method("GET").then(|| vec![send(html_response("200 OK"))])
    }),
    legacy("get-500", "responds to GET with 500", WORKS, |_, http_request| {
        http_request
            .has_http_method("GET")
            .then(|| vec![send(text_response("500 Internal Server Error", "no"))])
    }),
    legacy("get-hangs", "never responds to GET", WORKS, |_, http_request| {
        http_request.has_http_method("GET").then(|| vec![Step::Hang])
    }),
    legacy("get-drops", "closes its GET stream at once, each time", WORKS, |_, http_request| {
        http_request.has_http_method("GET").then(|| vec![send(stream_head() + LAST_CHUNK)])
    }),
    legacy("get-resets", "resets the connection on GET", WORKS, |_, http_request| {
        http_request.has_http_method("GET").then(|| vec![Step::Reset])
    }),
    legacy(
        "asks-on-stream",
        "pings the client on the stream of a call and waits for the response",
        WORKS,
        |server, http_request| request_on_stream(server, http_request, "ping"),
    ),
    legacy(
        "asks-unknown-on-stream",
        "sends an unknown request on the stream of a call and waits for the response",
        WORKS,
        |server, http_request| request_on_stream(server, http_request, "harbour/pilot"),
    ),
];

/// Responds to a call with a stream that ends before the response.
fn resume(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    retry: &str,
    times: u32,
) -> Option<Steps> {
    if let Some(call) = http_request.tool_call() {
        server.held_request = Some(call.clone());
        return Some(event_stream(&format!("{retry}id: e-1\ndata: \n\n")));
    }
    continue_stream(server, http_request, retry, times)
}

/// Continues a stream; only attempt number `times` gets the response.
fn continue_stream(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    retry: &str,
    times: u32,
) -> Option<Steps> {
    let last =
        http_request.header("last-event-id").filter(|_| http_request.has_http_method("GET"))?;
    let attempts: u32 = last.strip_prefix("e-")?.parse().ok()?;
    if attempts < times {
        return Some(event_stream(&format!("{retry}id: e-{}\ndata: \n\n", attempts + 1)));
    }
    let call = server.held_request.take()?;
    let outcome = responses::correct_result(server.era, &call);
    Some(event_stream(&format!(
        "id: e-{}\n{}",
        attempts + 1,
        event(responses::rpc_response(call.id(), &outcome))
    )))
}

/// Opens the GET stream, if the request is a GET with a valid session.
fn open_get_stream(server: &mut HttpServer, http_request: &HttpRequest) -> Option<Step> {
    if !http_request.has_http_method("GET") || server.session_error(http_request).is_some() {
        return None;
    }
    Some(Step::StreamFrom(server.open_stream()))
}

/// Sends a request on the stream of a call, and responds to the call after the client's response.
fn request_on_stream(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    method: &str,
) -> Option<Steps> {
    if let Some(call) = http_request.tool_call() {
        server.held_request = Some(call.clone());
        let request = format!(r#"{{"jsonrpc":"2.0","id":"question","method":"{method}"}}"#);
        let body = Step::StreamFrom(server.open_stream());
        return Some(vec![send(stream_head() + &chunk(&event(request))), body]);
    }
    let is_response = http_request.json.get("id") == Some(&Value::from("question"));
    if !is_response || server.session_error(http_request).is_some() {
        return None;
    }
    let call = server.held_request.take()?;
    let outcome = responses::correct_result(server.era, &call);
    server.write_stream(&event(responses::rpc_response(call.id(), &outcome)));
    server.send_stream_command(StreamCommand::EndBody);
    Some(accepted())
}
