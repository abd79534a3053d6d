//! Quirks of legacy sessions: lost sessions, unusual ids, DELETE, notifications, required headers.

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer, accepted, session_error_response};
use super::steps::{Step, Steps, html_response, http_response, json_response, send, text_response};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses;

const fn legacy(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut HttpServer, &HttpRequest) -> Option<Steps>,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::HandleSome(handle)).legacy()
}

const JSON: &str = "Content-Type: application/json\r\n";

pub(super) const QUIRKS: &[HttpQuirk] = &[
    legacy("session-none", "has no sessions", WORKS, |server, http_request| {
        if !http_request.has_http_method("POST") || http_request.rpc_method() == "server/discover" {
            return None;
        }
        Some(server.respond_to_message(http_request))
    }),
    legacy(
        "session-lost",
        "forgets the session at the first call (404), and accepts a new one",
        WORKS,
        |server, http_request| {
            if http_request.rpc_method() == "tools/call" && server.request_count("tools/call") == 1
            {
                server.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-lost-400",
        "forgets the session at the first call and responds with 400, which proves nothing",
        call_fails(FailureReason::ErrorResponse),
        |server, http_request| {
            http_request.tool_call()?;
            (server.request_count("tools/call") == 1).then(|| {
                server.session = None;
                let message = "Bad Request: No valid session ID provided";
                session_error_response("400 Bad Request", -32000, message)
            })
        },
    ),
    legacy(
        "session-lost-page",
        "forgets the session at the first call and responds with 404 and HTML",
        WORKS,
        |server, http_request| {
            http_request.tool_call()?;
            (server.request_count("tools/call") == 1).then(|| {
                server.session = None;
                vec![send(html_response("404 Not Found"))]
            })
        },
    ),
    legacy(
        "session-lost-on-list",
        "forgets the session at the first list (404)",
        WORKS,
        |server, http_request| {
            if http_request.rpc_method() == "tools/list" && server.request_count("tools/list") == 1
            {
                server.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-lost-for-ever",
        "forgets the session at every list (404)",
        ExpectedOutcome::ListFails { because: FailureReason::ErrorResponse },
        |server, http_request| {
            if http_request.rpc_method() == "tools/list" {
                server.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-changes",
        "sends a new session id with every response and requires the latest",
        WORKS,
        |server, http_request| {
            let request = http_request.rpc_request()?;
            if request.method == "initialize" || server.session_error(http_request).is_some() {
                return None;
            }
            let response = responses::rpc_response(
                request.id(),
                &responses::correct_result(server.era, request),
            );
            let session = server.new_session();
            let headers = format!("{JSON}Mcp-Session-Id: {session}\r\n");
            Some(vec![send(http_response("200 OK", &headers, &response))])
        },
    ),
    legacy(
        "session-unusual",
        "has a session id with every allowed special character",
        WORKS,
        |server, http_request| {
            session_with_id(server, http_request, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
        },
    ),
    legacy(
        "session-long",
        "has a session id of 4 000 characters",
        WORKS,
        |server, http_request| session_with_id(server, http_request, &"b".repeat(4_000)),
    ),
    legacy(
        "session-empty",
        "has an empty session id, which means no session",
        WORKS,
        |server, http_request| {
            if !http_request.has_http_method("POST")
                || http_request.rpc_method() == "server/discover"
            {
                return None;
            }
            if http_request.rpc_method() == "initialize" {
                return Some(server.respond_to_initialize(http_request, "Mcp-Session-Id: \r\n"));
            }
            Some(server.respond_to_message(http_request))
        },
    ),
    legacy(
        "session-lower-case",
        "writes its session header in lower case",
        WORKS,
        |server, http_request| {
            (http_request.rpc_method() == "initialize").then(|| {
                let session = server.new_session();
                server
                    .respond_to_initialize(http_request, &format!("mcp-session-id: {session}\r\n"))
            })
        },
    ),
    legacy("delete-405", "does not support the end of sessions (405)", WORKS, |_, http_request| {
        http_request
            .has_http_method("DELETE")
            .then(|| vec![send(text_response("405 Method Not Allowed", "no"))])
    }),
    legacy("delete-404", "does not support DELETE (404)", WORKS, |_, http_request| {
        http_request.has_http_method("DELETE").then(|| vec![send(html_response("404 Not Found"))])
    }),
    legacy("delete-500", "fails to end sessions (500)", WORKS, |_, http_request| {
        http_request
            .has_http_method("DELETE")
            .then(|| vec![send(text_response("500 Internal Server Error", "no"))])
    }),
    legacy("delete-hangs", "never responds to DELETE", WORKS, |_, http_request| {
        http_request.has_http_method("DELETE").then(|| vec![Step::Hang])
    }),
    legacy(
        "notification-200",
        "responds to notifications with 200 and `{}`",
        WORKS,
        |_, http_request| {
            is_notification(http_request).then(|| vec![send(json_response("200 OK", "{}"))])
        },
    ),
    legacy("notification-204", "responds to notifications with 204", WORKS, |_, http_request| {
        is_notification(http_request).then(|| vec![send("HTTP/1.1 204 No Content\r\n\r\n")])
    }),
    legacy(
        "notification-202-text",
        "responds to notifications with 202 and text",
        WORKS,
        |_, http_request| {
            is_notification(http_request)
                .then(|| vec![send(text_response("202 Accepted", "Accepted"))])
        },
    ),
    legacy("notification-refused", "rejects notifications (400)", WARNS, |_, http_request| {
        is_notification(http_request)
            .then(|| session_error_response("400 Bad Request", -32601, "Method not found"))
    }),
    legacy("notification-hangs", "never responds to notifications", WARNS, |_, http_request| {
        is_notification(http_request).then(|| vec![Step::Hang])
    }),
    legacy(
        "notification-slow",
        "responds to notifications after 200 ms",
        WORKS,
        |server, http_request| {
            let mut steps = vec![Step::Wait(server.delay(200))];
            steps.extend(accepted());
            is_notification(http_request).then_some(steps)
        },
    )
    .tagged(&[ModeTag::Waits]),
    legacy(
        "needs-initialized",
        "rejects everything until it receives `notifications/initialized`",
        WORKS,
        |server, http_request| {
            let request = http_request.rpc_request()?;
            let early = server.request_count("notifications/initialized") == 0
                && !["initialize", "server/discover"].contains(&request.method.as_str());
            early.then(|| {
                session_error_response("400 Bad Request", -32002, "Server not initialized")
            })
        },
    ),
    legacy(
        "needs-version-header",
        "rejects every request after `initialize` without the correct `MCP-Protocol-Version`",
        WORKS,
        |_, http_request| {
            let is_free = ["initialize", "server/discover"].contains(&http_request.rpc_method());
            let is_right =
                http_request.header("mcp-protocol-version") == Some(responses::LATEST_LEGACY);
            (!is_free && !is_right).then(|| {
                session_error_response(
                    "400 Bad Request",
                    -32000,
                    "Bad Request: Unsupported protocol version",
                )
            })
        },
    ),
    legacy(
        "needs-accept",
        "rejects requests that do not accept JSON and event streams (406)",
        WORKS,
        |_, http_request| {
            let accepts = http_request.header("accept").unwrap_or_default();
            let both =
                accepts.contains("application/json") && accepts.contains("text/event-stream");
            (http_request.has_http_method("POST") && !both)
                .then(|| session_error_response("406 Not Acceptable", -32000, "Not Acceptable"))
        },
    ),
];

fn is_notification(http_request: &HttpRequest) -> bool {
    http_request.client_message.is_some() && http_request.rpc_request().is_none()
}

fn session_with_id(
    server: &mut HttpServer,
    http_request: &HttpRequest,
    name: &str,
) -> Option<Steps> {
    (http_request.rpc_method() == "initialize").then(|| {
        server.session = Some(name.to_owned());
        server.respond_to_initialize(http_request, &format!("Mcp-Session-Id: {name}\r\n"))
    })
}
