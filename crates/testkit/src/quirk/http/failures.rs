//! Quirks of servers that fail: closed connections, timeouts, error statuses, redirects.

use super::HttpQuirk;
use super::request::HttpRequest;
use super::server::{HttpBehavior, HttpServer};
use super::steps::{
    Step, Steps, chunk, event, html_response, http_response, send, stream_head, text_response,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WORKS, call_fails};

/// Makes a call fail with these steps.
const fn on_call(
    name: &'static str,
    description: &'static str,
    because: FailureReason,
    steps: fn(&str) -> Steps,
) -> HttpQuirk {
    HttpQuirk::new(name, description, call_fails(because), HttpBehavior::FailCall(steps))
}

/// Handles every request for which the function returns steps.
const fn always(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut HttpServer, &HttpRequest) -> Option<Steps>,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::HandleSome(handle))
}

const fn not_connected(because: FailureReason) -> ExpectedOutcome {
    ExpectedOutcome::ConnectFails { because }
}

const BEARER: &str = "WWW-Authenticate: Bearer resource_metadata=\"http://127.0.0.1:9/.well-known/oauth-protected-resource\"\r\n";

pub(super) const QUIRKS: &[HttpQuirk] = &[
    on_call(
        "drops-before-head",
        "closes the connection when it is called",
        FailureReason::Ended,
        |_| vec![Step::Close],
    ),
    on_call(
        "drops-in-head",
        "closes the connection in the middle of the headers",
        FailureReason::Ended,
        |_| vec![send("HTTP/1.1 200 OK\r\nContent-Ty"), Step::Close],
    ),
    on_call(
        "drops-after-head",
        "closes the connection after the headers",
        FailureReason::Ended,
        |response| vec![send(head_with_length(response)), Step::Close],
    ),
    on_call(
        "drops-in-body",
        "closes the connection in the middle of the body",
        FailureReason::Ended,
        |response| {
            vec![send(head_with_length(response) + &response[..response.len() / 2]), Step::Close]
        },
    ),
    on_call(
        "drops-in-chunk",
        "closes the connection in the middle of a chunk",
        FailureReason::Ended,
        |response| {
            let chunk = chunk(response);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
            vec![send(format!("{head}{}", &chunk[..chunk.len() / 2])), Step::Close]
        },
    ),
    on_call("resets", "resets the connection when it is called", FailureReason::Ended, |_| {
        vec![Step::Reset]
    }),
    on_call(
        "resets-in-body",
        "resets the connection in the middle of the body",
        FailureReason::Ended,
        |response| {
            vec![send(head_with_length(response) + &response[..response.len() / 2]), Step::Reset]
        },
    ),
    on_call("stalls-before-head", "never responds to a call", FailureReason::TimedOut, |_| {
        vec![Step::Hang]
    }),
    on_call(
        "stalls-in-head",
        "stops writing in the middle of the headers",
        FailureReason::TimedOut,
        |_| vec![send("HTTP/1.1 200 OK\r\nContent-Ty"), Step::Hang],
    ),
    on_call(
        "stalls-in-body",
        "stops writing in the middle of the body",
        FailureReason::TimedOut,
        |response| {
            vec![send(head_with_length(response) + &response[..response.len() / 2]), Step::Hang]
        },
    ),
    on_call(
        "stalls-in-event",
        "stops writing in the middle of an event",
        FailureReason::TimedOut,
        |response| {
            let event = event(response);
            vec![send(stream_head() + &chunk(&event[..event.len() / 2])), Step::Hang]
        },
    ),
    on_call(
        "bad-chunks",
        "sends chunks whose sizes are not numbers",
        FailureReason::Ended,
        |response| {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
            vec![send(format!("{head}many\r\n{response}\r\n0\r\n\r\n")), Step::Close]
        },
    ),
    on_call(
        "status-401-on-call",
        "requires authorization for a call (401)",
        FailureReason::NeedsAuth,
        |_| vec![send(http_response("401 Unauthorized", BEARER, ""))],
    ),
    on_call(
        "status-403-on-call",
        "requires more scopes for a call (403)",
        FailureReason::NeedsAuth,
        |_| {
            let challenge =
                "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"crane:lift\"\r\n";
            vec![send(http_response("403 Forbidden", challenge, ""))]
        },
    ),
    on_call(
        "status-413",
        "rejects a call as too large (413)",
        FailureReason::ErrorResponse,
        |_| vec![send(text_response("413 Content Too Large", "too large"))],
    ),
    always(
        "drops-always",
        "closes every connection without a response",
        not_connected(FailureReason::Ended),
        |_, _| Some(vec![Step::Close]),
    ),
    always("stalls-always", "never responds", not_connected(FailureReason::TimedOut), |_, _| {
        Some(vec![Step::Hang])
    }),
    always(
        "status-500",
        "responds with 500 to every request",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(text_response("500 Internal Server Error", "the crane broke"))]),
    ),
    always(
        "status-502",
        "responds with 502 and HTML to every request",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(html_response("502 Bad Gateway"))]),
    ),
    always("status-503-once", "responds to its first request with 503", WORKS, |server, _| {
        let busy = http_response("503 Service Unavailable", "Retry-After: 0\r\n", "");
        (server.request_count("POST") == 1).then(|| vec![send(busy)])
    }),
    HttpQuirk::new(
        "status-503-call-once",
        "responds to its first call with 503; a call must not be retried after that",
        call_fails(FailureReason::ErrorResponse),
        HttpBehavior::HandleSome(|server, http_request| {
            http_request.tool_call()?;
            let busy = http_response("503 Service Unavailable", "Retry-After: 0\r\n", "");
            (server.request_count("tools/call") == 1).then(|| vec![send(busy)])
        }),
    ),
    always(
        "status-429",
        "responds with 429 to every request",
        not_connected(FailureReason::ErrorResponse),
        |_, _| {
            let too_many =
                http_response("429 Too Many Requests", "Retry-After: 3600\r\n", "slow down");
            Some(vec![send(too_many)])
        },
    ),
    always(
        "status-429-once",
        "responds with 429 and a delay of a second once, and does not enforce the delay",
        WORKS,
        |server, _| {
            let too_many =
                http_response("429 Too Many Requests", "Retry-After: 1\r\n", "slow down");
            (server.request_count("POST") == 1).then(|| vec![send(too_many)])
        },
    )
    .tagged(&[ModeTag::Waits]),
    always(
        "status-401",
        "requires authorization, and names the metadata",
        not_connected(FailureReason::NeedsAuth),
        |_, _| {
            Some(vec![send(http_response(
                "401 Unauthorized",
                BEARER,
                r#"{"error":"invalid_token"}"#,
            ))])
        },
    ),
    always(
        "status-401-bare",
        "requires authorization, and does not name the metadata",
        not_connected(FailureReason::NeedsAuth),
        |_, _| Some(vec![send(text_response("401 Unauthorized", "sign in"))]),
    ),
    always(
        "status-401-basic",
        "requires a password",
        not_connected(FailureReason::NeedsAuth),
        |_, _| {
            let challenge = "WWW-Authenticate: Basic realm=\"harbour\"\r\nWWW-Authenticate: Negotiate, Bearer\r\n";
            Some(vec![send(http_response("401 Unauthorized", challenge, ""))])
        },
    ),
    always(
        "status-403",
        "responds with 403 to every request",
        not_connected(FailureReason::NeedsAuth),
        |_, _| Some(vec![send(text_response("403 Forbidden", "Invalid origin"))]),
    ),
    always(
        "status-404",
        "responds with 404 to every request",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(html_response("404 Not Found"))]),
    ),
    always(
        "status-410",
        "responds with 410 to every request",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(text_response("410 Gone", "gone"))]),
    ),
    always(
        "status-418",
        "responds with an unexpected status",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(text_response("418 I'm a teapot", "short and stout"))]),
    ),
    always("redirect-307", "redirects within its origin (307)", WORKS, |_, http_request| {
        redirect_to_moved(http_request, "307")
    }),
    always("redirect-308", "redirects within its origin (308)", WORKS, |_, http_request| {
        redirect_to_moved(http_request, "308")
    }),
    always("redirect-301", "redirects within its origin (301)", WORKS, |_, http_request| {
        redirect_to_moved(http_request, "301")
    }),
    always("redirect-302", "redirects within its origin (302)", WORKS, |_, http_request| {
        redirect_to_moved(http_request, "302")
    }),
    always(
        "redirect-303",
        "redirects every request to a GET (303)",
        not_connected(FailureReason::Forbidden),
        |_, http_request| {
            if http_request.raw.path == "/moved" {
                return Some(vec![send(html_response("200 OK"))]);
            }
            redirect_to_moved(http_request, "303")
        },
    ),
    always(
        "redirect-across",
        "redirects to another origin (307), which must not get the credentials",
        ExpectedOutcome::ConnectFails { because: FailureReason::Forbidden },
        |server, http_request| {
            let elsewhere = format!("http://{}/mcp", server.other_origin);
            (!http_request.raw.at_other_origin).then(|| redirect("307", &elsewhere))
        },
    ),
    always(
        "redirect-in-circles",
        "redirects in a loop",
        not_connected(FailureReason::Forbidden),
        |_, http_request| {
            let next = if http_request.raw.path == "/mcp" { "/moved" } else { "/mcp" };
            Some(redirect("307", next))
        },
    ),
    always(
        "redirect-endless",
        "redirects to a new path each time",
        not_connected(FailureReason::Forbidden),
        |server, _| Some(redirect("307", &format!("/moved-{}", server.request_count("POST")))),
    ),
    always(
        "redirect-nowhere",
        "redirects without a location",
        not_connected(FailureReason::ErrorResponse),
        |_, _| Some(vec![send(http_response("307 Temporary Redirect", "", ""))]),
    ),
    always(
        "redirect-to-file",
        "redirects to a file",
        not_connected(FailureReason::Forbidden),
        |_, _| Some(redirect("307", "file:///etc/hostname")),
    ),
    HttpQuirk::new(
        "redirect-call-across",
        "redirects calls to another origin (307), to which a call must not be sent again",
        call_fails(FailureReason::ErrorResponse),
        HttpBehavior::HandleSome(|server, http_request| {
            http_request.tool_call()?;
            let elsewhere = format!("http://{}/mcp", server.other_origin);
            (!http_request.raw.at_other_origin).then(|| redirect("307", &elsewhere))
        }),
    ),
];

/// Returns headers with the length of the whole body.
fn head_with_length(response: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        response.len()
    )
}

/// Redirects requests for `/mcp` to `/moved`, which works.
fn redirect_to_moved(http_request: &HttpRequest, status: &str) -> Option<Steps> {
    (http_request.raw.path == "/mcp").then(|| redirect(status, "/moved"))
}

fn redirect(status: &str, location: &str) -> Steps {
    vec![send(http_response(&format!("{status} Moved"), &format!("Location: {location}\r\n"), ""))]
}
