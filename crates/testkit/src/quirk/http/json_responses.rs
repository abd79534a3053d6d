//! Quirks of JSON responses: content type, transfer encoding, size, text around the JSON.

use serde_json::Value;

use super::HttpQuirk;
use super::server::{HttpBehavior, HttpServer, accepted};
use super::steps::{
    LAST_CHUNK, Step, Steps, chunk, event, event_stream, html_response, http_response,
    json_response, send, text_response,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses;

/// Sends each response with this function.
const fn each_response(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    wrap: fn(&HttpServer, &str, &str) -> Steps,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::WrapResponse(wrap))
}

const fn connect_fails(because: FailureReason) -> ExpectedOutcome {
    ExpectedOutcome::ConnectFails { because }
}

const BAD_RESULT: ExpectedOutcome = connect_fails(FailureReason::BadResult);
const ENDED: ExpectedOutcome = connect_fails(FailureReason::Ended);
/// The server refuses the older revisions that are tried after the newest one.
const NO_COMMON_VERSION: ExpectedOutcome = connect_fails(FailureReason::NoCommonVersion);
const TIMED_OUT: ExpectedOutcome = connect_fails(FailureReason::TimedOut);

pub(super) const QUIRKS: &[HttpQuirk] = &[
    HttpQuirk::new("json", "responds with JSON, as it should", WORKS, HttpBehavior::Correct),
    each_response("chunked", "sends its JSON in one chunk", WORKS, |_, response, headers| {
        let head = chunked_head(headers);
        vec![send(head + &chunk(response) + LAST_CHUNK)]
    }),
    each_response(
        "chunked-unusual",
        "sends chunks of seven bytes with extensions and trailers",
        WORKS,
        |_, response, headers| {
            let chunk_of = |part: &[u8]| {
                let size = format!("{:X};name=\"value\"\r\n", part.len());
                [size.as_bytes(), part, b"\r\n"].concat()
            };
            let body: Vec<u8> = response.as_bytes().chunks(7).flat_map(chunk_of).collect();
            vec![send([chunked_head(headers).as_bytes(), &body, b"0\r\nX-Sum: 1\r\n\r\n"].concat())]
        },
    ),
    each_response(
        "until-close",
        "ends its body by closing the connection",
        WORKS,
        |_, response, headers| {
            vec![send(without_length("HTTP/1.1 200 OK", headers, response)), Step::Close]
        },
    ),
    each_response(
        "http-1-0",
        "responds with HTTP/1.0 and closes",
        WORKS,
        |_, response, headers| {
            vec![send(without_length("HTTP/1.0 200 OK", headers, response)), Step::Close]
        },
    ),
    each_response(
        "closes-each",
        "closes the connection after every response, and announces it",
        WORKS,
        |_, response, headers| {
            let headers =
                format!("Content-Type: application/json\r\n{headers}Connection: close\r\n");
            vec![send(http_response("200 OK", &headers, response)), Step::Close]
        },
    ),
    each_response(
        "closes-silently",
        "closes the connection after every response, and does not announce it",
        WORKS,
        |_, response, headers| {
            let headers =
                format!("Content-Type: application/json\r\n{headers}Connection: keep-alive\r\n");
            vec![send(http_response("200 OK", &headers, response)), Step::Close]
        },
    ),
    each_response("no-reason", "leaves out the reason phrase", WORKS, |_, response, headers| {
        let length = format!("{headers}Content-Length: {}\r\n", response.len());
        vec![send(without_length("HTTP/1.1 200", &length, response))]
    }),
    each_response(
        "early-hints",
        "sends 100 and 103 before its response",
        WORKS,
        |_, response, headers| {
            let early =
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
            let headers = format!("Content-Type: application/json\r\n{headers}");
            vec![send(early.to_owned() + &http_response("200 OK", &headers, response))]
        },
    ),
    each_response(
        "headers-in-capitals",
        "writes its headers in capitals and pads them",
        WORKS,
        |_, response, headers| {
            let headers = format!("CONTENT-TYPE:   Application/JSON  \r\n{headers}");
            vec![send(http_response("200 OK", &headers, response))]
        },
    ),
    each_response("many-headers", "sends 90 unused headers", WORKS, |_, response, headers| {
        let more = "X-Extra: 1\r\n".repeat(90);
        let headers = format!("Content-Type: application/json\r\n{headers}{more}");
        vec![send(http_response("200 OK", &headers, response))]
    }),
    each_response(
        "huge-header",
        "sends a header of a megabyte, which is more than a client should accept",
        ENDED,
        |server, response, headers| {
            let filler = "x".repeat(server.bytes(1 << 20));
            let headers =
                format!("Content-Type: application/json\r\n{headers}X-Huge: {filler}\r\n");
            vec![send(http_response("200 OK", &headers, response))]
        },
    )
    .in_modern(NO_COMMON_VERSION),
    each_response(
        "type-charset",
        "adds a charset to the content type of its JSON",
        WORKS,
        |_, response, headers| {
            with_content_type(
                "Content-Type: application/json; charset=utf-8\r\n",
                response,
                headers,
            )
        },
    ),
    each_response("type-plain", "sends its JSON as `text/plain`", WARNS, |_, response, headers| {
        with_content_type("Content-Type: text/plain\r\n", response, headers)
    }),
    each_response("type-missing", "sends no content type", WARNS, |_, response, headers| {
        with_content_type("", response, headers)
    }),
    each_response(
        "type-vendor",
        "sends its JSON as `application/json-rpc`",
        WARNS,
        |_, response, headers| {
            with_content_type("Content-Type: application/json-rpc\r\n", response, headers)
        },
    ),
    each_response("type-html", "sends its JSON as `text/html`", WARNS, |_, response, headers| {
        with_content_type("Content-Type: text/html\r\n", response, headers)
    }),
    each_response(
        "type-says-stream",
        "sends its JSON as `text/event-stream`, so the stream has no event",
        ENDED,
        |_, response, headers| {
            with_content_type("Content-Type: text/event-stream\r\n", response, headers)
        },
    )
    .in_modern(NO_COMMON_VERSION),
    each_response(
        "type-says-json",
        "sends its event stream as `application/json`",
        WARNS,
        |_, response, headers| {
            with_content_type("Content-Type: application/json\r\n", &event(response), headers)
        },
    ),
    each_response("page", "responds to everything with HTML", BAD_RESULT, |_, _, _| {
        vec![send(html_response("200 OK"))]
    })
    .in_modern(NO_COMMON_VERSION),
    each_response("empty", "responds to everything with an empty body", BAD_RESULT, |_, _, _| {
        vec![send(json_response("200 OK", ""))]
    })
    .in_modern(NO_COMMON_VERSION),
    each_response("status-202", "responds to requests with 202 only", TIMED_OUT, |_, _, _| {
        accepted()
    }),
    each_response("status-204", "responds to requests with 204", TIMED_OUT, |_, _, _| {
        vec![send("HTTP/1.1 204 No Content\r\n\r\n")]
    }),
    each_response("not-http", "does not speak HTTP", ENDED, |_, _, _| {
        vec![send("SSH-2.0-harbour\r\n\r\n"), Step::Close]
    })
    .in_modern(NO_COMMON_VERSION),
    each_response("not-json", "responds with a body that is not JSON", BAD_RESULT, |_, _, _| {
        vec![send(json_response("200 OK", "{'result': None}"))]
    })
    .in_modern(NO_COMMON_VERSION),
    each_response(
        "json-bom",
        "writes a byte-order mark before its JSON",
        WARNS,
        |_, response, headers| {
            with_content_type(
                "Content-Type: application/json\r\n",
                &format!("\u{feff}{response}"),
                headers,
            )
        },
    ),
    each_response(
        "json-lines",
        "splits its JSON over lines, which is valid on HTTP",
        WORKS,
        |_, response, headers| {
            let value: Value = serde_json::from_str(response).unwrap_or_default();
            with_content_type(
                "Content-Type: application/json\r\n",
                &format!("\r\n{value:#}\r\n"),
                headers,
            )
        },
    ),
    each_response(
        "json-array",
        "responds with an array of one response",
        WORKS,
        |_, response, headers| {
            with_content_type(
                "Content-Type: application/json\r\n",
                &format!("[{response}]"),
                headers,
            )
        },
    ),
    each_response("json-and-junk", "adds text after its JSON", WARNS, |_, response, headers| {
        with_content_type(
            "Content-Type: application/json\r\n",
            &format!("{response}\n// done"),
            headers,
        )
    }),
    HttpQuirk::new(
        "id-as-text",
        "responds to calls with the id as a string",
        WARNS,
        HttpBehavior::RespondToCall(|_, request, response| {
            let id = format!("\"id\":{},", request.id());
            let text = format!("\"id\":\"{}\",", request.id().trim_matches('"'));
            vec![send(json_response("200 OK", &response.replacen(&id, &text, 1)))]
        }),
    ),
    HttpQuirk::new(
        "id-wrong",
        "responds to calls with an unknown id",
        call_fails(FailureReason::BadResult),
        HttpBehavior::RespondToCall(|_, request, response| {
            let id = format!("\"id\":{},", request.id());
            vec![send(json_response("200 OK", &response.replacen(&id, "\"id\":987654321,", 1)))]
        }),
    ),
    HttpQuirk::new(
        "call-202",
        "responds to calls with 202 only",
        call_fails(FailureReason::TimedOut),
        HttpBehavior::RespondToCall(|_, _, _| accepted()),
    ),
    HttpQuirk::new(
        "call-text",
        "responds to a call with plain text",
        call_fails(FailureReason::BadResult),
        HttpBehavior::RespondToCall(|_, _, _| vec![send(text_response("200 OK", "done"))]),
    ),
    HttpQuirk::new(
        "status-200-error",
        "rejects a call with an error and status 200",
        call_fails(FailureReason::ErrorResponse),
        HttpBehavior::RespondToCall(|_, request, _| rpc_error_response(request.id(), "200 OK")),
    ),
    HttpQuirk::new(
        "status-500-error",
        "rejects a call with an error and status 500",
        call_fails(FailureReason::ErrorResponse),
        HttpBehavior::RespondToCall(|_, request, _| {
            rpc_error_response(request.id(), "500 Internal Server Error")
        }),
    ),
    each_response(
        "drip",
        "sends its responses in small parts with pauses (2 ms)",
        WORKS,
        |server, response, headers| {
            let headers = format!("Content-Type: application/json\r\n{headers}");
            let whole = http_response("200 OK", &headers, response);
            let delay = server.delay(2);
            whole.as_bytes().chunks(11).flat_map(|part| [send(part), Step::Wait(delay)]).collect()
        },
    )
    .tagged(&[ModeTag::Waits]),
    HttpQuirk::new(
        "giant",
        "responds to a call with 70 MB",
        call_fails(FailureReason::TooLarge),
        HttpBehavior::RespondToCall(|server, request, _| {
            vec![send(json_response("200 OK", &with_filler(request, server.bytes(70 << 20))))]
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    HttpQuirk::new(
        "giant-stream",
        "responds to a call with an event of 70 MB",
        call_fails(FailureReason::TooLarge),
        HttpBehavior::RespondToCall(|server, request, _| {
            event_stream(&event(with_filler(request, server.bytes(70 << 20))))
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    HttpQuirk::new(
        "large",
        "responds to a call with 17 MB",
        WORKS,
        HttpBehavior::RespondToCall(|server, request, _| {
            vec![send(json_response("200 OK", &with_filler(request, server.bytes(17 << 20))))]
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    HttpQuirk::new(
        "giant-promise",
        "announces a terabyte and sends a little",
        call_fails(FailureReason::TooLarge),
        HttpBehavior::RespondToCall(|_, _, response| {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1099511627776\r\n\r\n";
            vec![send(format!("{head}{response}")), Step::Close]
        }),
    ),
];

fn chunked_head(headers: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    )
}

/// Returns a response without a content length.
fn without_length(first_line: &str, headers: &str, body: &str) -> String {
    format!("{first_line}\r\nContent-Type: application/json\r\n{headers}\r\n{body}")
}

fn with_content_type(content_type: &str, body: &str, headers: &str) -> Steps {
    vec![send(http_response("200 OK", &format!("{content_type}{headers}"), body))]
}

fn rpc_error_response(id: &str, status: &str) -> Steps {
    let error = responses::JsonRpcError::new(-32603, "the crane broke");
    vec![send(json_response(status, &responses::rpc_response(id, &Err(error))))]
}

fn with_filler(request: &responses::ClientMessage, size: usize) -> String {
    let filler = "x".repeat(size);
    let result = responses::fill_placeholders(
        r#"{"resultType":"complete","content":[{"type":"text","text":$TEXT},{"type":"text","text":"$FILLER"}]}"#,
        request,
    );
    responses::rpc_response(request.id(), &Ok(result.replace("$FILLER", &filler)))
}
