//! Quirks of servers with the oldest transport, HTTP+SSE: a stream by GET, messages by POST.
//!
//! The first event on the stream (`endpoint`) names the URL for messages; the responses are events
//! on the stream.

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer, accepted, session_error_response};
use super::steps::{
    Step, Steps, StreamCommand, chunk, event, html_response, json_response, send, stream_head,
    text_response,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WORKS, call_fails};
use crate::quirk::responses;

const fn http_sse(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut HttpServer, &HttpRequest) -> Steps,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::HandleAll(handle)).legacy()
}

/// The event that names the URL for messages, as most servers send it.
const ENDPOINT: &str = "event: endpoint\ndata: /messages?sessionId=berth-1\n\n";

const FORBIDDEN: ExpectedOutcome =
    ExpectedOutcome::ConnectFails { because: FailureReason::Forbidden };
const NOT_CONNECTED: ExpectedOutcome =
    ExpectedOutcome::ConnectFails { because: FailureReason::ErrorResponse };

pub(super) const QUIRKS: &[HttpQuirk] = &[
    http_sse(
        "sse",
        "has the oldest transport, and rejects POST with 405",
        WORKS,
        |server, http_request| {
            handle_correctly(
                server,
                http_request,
                ENDPOINT,
                &text_response("405 Method Not Allowed", "Method Not Allowed"),
            )
        },
    ),
    http_sse("sse-post-404", "rejects POST with 404 and HTML", WORKS, |server, http_request| {
        handle_correctly(server, http_request, ENDPOINT, &html_response("404 Not Found"))
    }),
    http_sse(
        "sse-post-400",
        "rejects POST with 400 \"Missing sessionId\"",
        WORKS,
        |server, http_request| {
            handle_correctly(
                server,
                http_request,
                ENDPOINT,
                &text_response("400 Bad Request", "Missing sessionId"),
            )
        },
    ),
    http_sse("sse-relative", "sends a relative URL", WORKS, |server, http_request| {
        handle_correctly(
            server,
            http_request,
            "event: endpoint\ndata: messages?sessionId=berth-1\n\n",
            &method_not_allowed(),
        )
    }),
    http_sse(
        "sse-query-only",
        "sends a URL that is only a query",
        WORKS,
        |server, http_request| {
            if http_request.has_http_method("POST")
                && http_request.raw.path == "/mcp?sessionId=berth-1"
            {
                return respond_on_stream(server, http_request);
            }
            handle_correctly(
                server,
                http_request,
                "event: endpoint\ndata: ?sessionId=berth-1\n\n",
                &method_not_allowed(),
            )
        },
    ),
    http_sse("sse-absolute", "sends an absolute URL", WORKS, |server, http_request| {
        let host = http_request.header("host").unwrap_or_default();
        let endpoint =
            format!("event: endpoint\ndata: http://{host}/messages?sessionId=berth-1\n\n");
        handle_correctly(server, http_request, &endpoint, &method_not_allowed())
    }),
    http_sse("sse-across", "sends a URL of another origin", FORBIDDEN, |server, http_request| {
        let endpoint =
            format!("event: endpoint\ndata: http://{}/messages\n\n", server.other_origin);
        handle_correctly(server, http_request, &endpoint, &method_not_allowed())
    }),
    http_sse(
        "sse-across-scheme-less",
        "sends a URL of another origin without a scheme",
        FORBIDDEN,
        |server, http_request| {
            let endpoint = format!("event: endpoint\ndata: //{}/messages\n\n", server.other_origin);
            handle_correctly(server, http_request, &endpoint, &method_not_allowed())
        },
    ),
    http_sse("sse-to-file", "sends a `file:` URL", FORBIDDEN, |server, http_request| {
        handle_correctly(
            server,
            http_request,
            "event: endpoint\ndata: file:///messages\n\n",
            &method_not_allowed(),
        )
    }),
    http_sse("sse-nowhere", "sends an empty URL", NOT_CONNECTED, |server, http_request| {
        handle_correctly(server, http_request, "event: endpoint\ndata: \n\n", &method_not_allowed())
    }),
    http_sse(
        "sse-json-endpoint",
        "sends its URL inside JSON, where clients do not look for it",
        ExpectedOutcome::ConnectFails { because: FailureReason::ErrorResponse },
        |server, http_request| {
            let endpoint = "event: endpoint\ndata: {\"uri\":\"/messages?sessionId=berth-1\"}\n\n";
            handle_correctly(server, http_request, endpoint, &method_not_allowed())
        },
    ),
    http_sse("sse-late", "sends its URL after 300 ms", WORKS, |server, http_request| {
        if !http_request.has_http_method("GET") {
            return handle_correctly(server, http_request, ENDPOINT, &method_not_allowed());
        }
        let body = Step::StreamFrom(server.open_stream());
        let wait = Step::Wait(server.delay(300));
        vec![send(stream_head()), wait, send(chunk(ENDPOINT)), body]
    })
    .tagged(&[ModeTag::Waits]),
    http_sse(
        "sse-never",
        "never sends its URL",
        ExpectedOutcome::ConnectFails { because: FailureReason::TimedOut },
        |server, http_request| {
            handle_correctly(server, http_request, ": hello\n\n", &method_not_allowed())
        },
    ),
    http_sse(
        "sse-chatty",
        "sends comments and other events before its URL",
        WORKS,
        |server, http_request| {
            let chat = "retry: 10\n\n: hello\n\nevent: ping\ndata: 1\n\nid: 0\nevent: endpoint\r\ndata:/messages?sessionId=berth-1\r\n\r\n";
            handle_correctly(server, http_request, chat, &method_not_allowed())
        },
    ),
    http_sse("sse-twice", "sends two URLs; the first works", WORKS, |server, http_request| {
        let twice = format!("{ENDPOINT}event: endpoint\ndata: /nowhere\n\n");
        handle_correctly(server, http_request, &twice, &method_not_allowed())
    }),
    http_sse(
        "sse-session-again",
        "sends a session id that the POST must contain",
        WORKS,
        |server, http_request| {
            if http_request.has_http_method("POST") && http_request.raw.path == "/messages" {
                return session_error_response("400 Bad Request", -32000, "Missing sessionId");
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-200-text",
        "accepts messages with 200 and text",
        WORKS,
        |server, http_request| {
            respond_to_post(server, http_request, |_, _| {
                vec![send(text_response("200 OK", "Accepted"))]
            })
        },
    ),
    http_sse(
        "sse-200-empty",
        "accepts messages with 200 and an empty body",
        WORKS,
        |server, http_request| {
            respond_to_post(server, http_request, |_, _| vec![send(text_response("200 OK", ""))])
        },
    ),
    http_sse("sse-204", "accepts messages with 204", WORKS, |server, http_request| {
        respond_to_post(server, http_request, |_, _| vec![send("HTTP/1.1 204 No Content\r\n\r\n")])
    }),
    http_sse(
        "sse-reply-in-post",
        "responds in the POST as well as on the stream",
        WORKS,
        |server, http_request| {
            respond_to_post(server, http_request, |_, response| {
                vec![send(json_response("200 OK", response))]
            })
        },
    ),
    http_sse(
        "sse-reply-in-post-only",
        "responds in the POST and not on the stream",
        WORKS,
        |server, http_request| {
            if http_request.has_http_method("POST")
                && http_request.raw.path.starts_with("/messages")
            {
                return server.respond_to_message(http_request);
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-slow-post",
        "responds on the stream 100 ms before it accepts the POST",
        WORKS,
        |server, http_request| {
            respond_to_post(server, http_request, |server, _| {
                let mut steps = vec![Step::Wait(server.delay(100))];
                steps.extend(accepted());
                steps
            })
        },
    )
    .tagged(&[ModeTag::Waits]),
    http_sse(
        "sse-post-hangs",
        "responds on the stream and never accepts the POST",
        ExpectedOutcome::Works { tools: 2, warnings: true },
        |server, http_request| respond_to_post(server, http_request, |_, _| vec![Step::Hang]),
    ),
    http_sse(
        "sse-nameless",
        "sends messages without an event name",
        WORKS,
        |server, http_request| {
            if http_request.has_http_method("POST")
                && http_request.raw.path.starts_with("/messages")
            {
                if let Some(request) = http_request.rpc_request() {
                    let response = responses::rpc_response(
                        request.id(),
                        &responses::correct_result(server.era, request),
                    );
                    server.write_stream(&format!(": x\n\ndata: {response}\n\n"));
                }
                return accepted();
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-call-refused",
        "rejects the POST of a call with 500",
        call_fails(FailureReason::ErrorResponse),
        |server, http_request| match http_request.tool_call() {
            Some(_) => vec![send(text_response("500 Internal Server Error", "no"))],
            None => handle_correctly(server, http_request, ENDPOINT, &method_not_allowed()),
        },
    ),
    http_sse(
        "sse-drops-in-call",
        "closes the connection of its stream during a call",
        call_fails(FailureReason::Ended),
        |server, http_request| {
            if http_request.tool_call().is_some() {
                server.send_stream_command(StreamCommand::Disconnect);
                return accepted();
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-ends-in-call",
        "ends its stream correctly during a call",
        call_fails(FailureReason::Ended),
        |server, http_request| {
            if http_request.tool_call().is_some() {
                server.send_stream_command(StreamCommand::EndBody);
                return accepted();
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-asks",
        "pings on its stream before it responds to a call",
        WORKS,
        |server, http_request| {
            if http_request.tool_call().is_some() {
                server.write_stream(&event(r#"{"jsonrpc":"2.0","id":"question","method":"ping"}"#));
            }
            handle_correctly(server, http_request, ENDPOINT, &method_not_allowed())
        },
    ),
    http_sse(
        "sse-page",
        "responds to GET with HTML and to POST with 404",
        ExpectedOutcome::ConnectFails { because: FailureReason::ErrorResponse },
        |_, http_request| {
            let status =
                if http_request.has_http_method("GET") { "200 OK" } else { "404 Not Found" };
            vec![send(html_response(status))]
        },
    ),
];

/// The response of a correct server to a POST to the URL of its stream.
fn method_not_allowed() -> String {
    text_response("405 Method Not Allowed", "Method Not Allowed")
}

/// Handles a request like a correct server; `first` is the first event of its stream.
fn handle_correctly(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    first: &str,
    post_response: &str,
) -> Steps {
    if http_request.has_http_method("GET") {
        let body = Step::StreamFrom(server.open_stream());
        return vec![send(stream_head() + &chunk(first)), body];
    }
    if !http_request.has_http_method("POST") || !http_request.raw.path.starts_with("/messages") {
        return vec![send(post_response.to_owned())];
    }
    respond_on_stream(server, http_request)
}

/// Accepts a message and responds on the stream.
fn respond_on_stream(server: &mut HttpServer, http_request: &HttpRequest) -> Steps {
    if let Some(request) = http_request.rpc_request() {
        let outcome = responses::correct_result(server.era, request);
        server.write_stream(&event(responses::rpc_response(request.id(), &outcome)));
    }
    accepted()
}

/// Handles a message like a correct server, but responds to the POST with other steps.
fn respond_to_post(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    respond: fn(&HttpServer, &str) -> Steps,
) -> Steps {
    let steps = handle_correctly(server, http_request, ENDPOINT, &method_not_allowed());
    if !http_request.has_http_method("POST") || !http_request.raw.path.starts_with("/messages") {
        return steps;
    }
    let response = http_request.rpc_request().map_or_else(String::new, |request| {
        responses::rpc_response(request.id(), &responses::correct_result(server.era, request))
    });
    respond(server, &response)
}
